package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/plugin"
)

// diary is a memory in Python.
const diary = `
import os
from hermes_plugin import Plugin
plugin = Plugin("diary", "1")
kept = os.path.join(os.environ["HOME"], "diary.txt")
def lines():
    try: return open(kept).read().splitlines()
    except FileNotFoundError: return []

@plugin.serves("memory/block")
def block(call, params): return {"text": "The diary has %d lines." % len(lines())}

@plugin.serves("memory/recall")
def recall(call, params):
    words = [w.strip("?.,").lower() for w in params["query"].split()]
    return {"text": "\n".join(l for l in lines() if any(len(w) > 4 and w in l.lower() for w in words))}

@plugin.serves("memory/observe")
def observe(call, params):
    with open(kept, "a") as f: f.write(params["said"].replace("\n", " ") + "\n")

@plugin.serves("memory/commands")
def commands(call, params): return {"commands": [{"name": "count", "help": "Count the lines"}]}

@plugin.serves("memory/command")
def command(call, params): return {"text": "%s %d" % (params["name"], len(lines())), "exit_code": 0}

@plugin.tool("Read the diary.", {"type": "object", "properties": {}}, effect="none")
def diary_read(call): return "\n".join(lines())

@plugin.tool("Clear the diary.", {"type": "object", "properties": {}})
def diary_clear(call):
    open(kept, "w"); return "cleared"

plugin.run()
`

// TestAPluginRemembers: what one session said reaches the next as untrusted text below the message;
// its block and its tools are there while it is chosen, and its commands.
func TestAPluginRemembers(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	s := withPlugin(t, hermes.AllowOnce, false, "diary", strings.ReplaceAll(diary, `os.environ["HOME"]`, `"`+out+`"`),
		"name: diary\nversion: \"1\"\ndescription: Keeps a diary.\nprogram: [python3, ./main.py]\nkinds: [memory, tools]\ncapabilities: {write: ["+out+"]}\n")
	enabled := s.config

	s.say(`CALL diary_read {}`) // it is enabled, and not chosen
	if got := s.model.results(); strings.Contains(got, "staging") || strings.Contains(s.system(), "The diary has") {
		t.Error("it is used before it is chosen:", got)
	}
	s.quit()
	s.session = ""
	s.config = enabled + "memory: {provider: diary}\n"
	s.say("The staging server is called heron.")
	if !strings.Contains(s.system(), "The diary has 0 lines.") {
		t.Error("the block is not in the prompt:", s.system())
	}
	if m := s.app.PluginMemory(); m == nil {
		t.Error("it is not the memory")
	} else if said, code, err := m.Run(t.Context(), "count", nil); code != 0 || err != nil || !strings.HasPrefix(said, "count ") {
		t.Error(said, code, err)
	}
	for _, one := range s.app.MemoryServices() {
		if one.Name == "diary" && (one.Title != "Keeps a diary." || one.Missing != "") {
			t.Errorf("the service is %+v", one)
		}
	}
	s.quit() // what is observed is waited for
	if data, err := os.ReadFile(filepath.Join(out, "diary.txt")); err != nil || string(data) != "The staging server is called heron.\n" {
		t.Fatalf("observed %q, %v", data, err)
	}

	s.session = ""
	s.say("How is the staging server called?")
	if got := s.model.results(); !strings.Contains(got, "called heron.") {
		t.Error("it is not recalled:", got)
	}
	recalled := ""
	for _, m := range s.messages() {
		if m.Role == hermes.RoleUser {
			recalled = m.Provenance
		}
	}
	if recalled != "plugin diary" {
		t.Errorf("the provenance of the message is %q", recalled)
	}
	s.asked = nil
	s.say(`CALL diary_read {}`, `CALL diary_clear {}`)
	if got := s.model.results(); !strings.Contains(got, "cleared") || strings.Count(got, "called heron.") < 2 {
		t.Error("its tools:", got)
	}
	for _, a := range s.asked {
		for _, r := range a.Risks {
			if strings.Contains(r.Key, "tainted") {
				t.Error("its own text makes it a risk:", r)
			}
		}
	}
}

// TestAPluginIsNotCalledAsWhatIsBuiltIn, so that it cannot be chosen by its name.
func TestAPluginIsNotCalledAsWhatIsBuiltIn(t *testing.T) {
	t.Parallel()
	a := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() }) // nothing was opened
	for kind, name := range map[string]string{plugin.KindMemory: "honcho", plugin.KindContext: "compressor"} {
		_, err := a.LookAtPlugin(t.Context(), t.TempDir(), plugin.Manifest{Name: name, Program: []string{"false"}, Kinds: []string{kind}})
		if err == nil || !strings.Contains(err.Error(), "the "+kind+" "+name+" is built in") {
			t.Errorf("%s %s: %v", kind, name, err)
		}
	}
}
