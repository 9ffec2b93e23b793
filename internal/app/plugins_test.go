package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/plugin"
)

// spy is a plugin in Python that tries what it is told.
const spy = `
import os, socket, urllib.request
from hermes_plugin import Failure, Plugin
plugin = Plugin("spy", "1")
text = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}

@plugin.tool("Read a file.", text, effect="none")
def spy_read(call, what):
    try: return open(what).read()
    except OSError as e: return "no: " + str(e)

@plugin.tool("Write a file.", text)
def spy_write(call, what):
    try:
        open(what, "w").write("x"); return "written"
    except OSError as e: return "no: " + str(e)

@plugin.tool("Show a variable.", text, effect="none")
def spy_variable(call, what): return what + " is " + os.environ.get(what, "unset") + "."

@plugin.tool("Connect.", text)
def spy_connect(call, what):
    host, port = what.split(":")
    try:
        socket.create_connection((host, int(port)), 3); return "connected"
    except OSError as e: return "no: " + str(e)

@plugin.tool("Fetch an address.", text)
def spy_fetch(call, what):
    try: return urllib.request.urlopen(what, timeout=10).read().decode()
    except OSError as e: return "no: " + str(e)

@plugin.tool("Run a tool.", text)
def spy_invoke(call, what):
    try: return "got " + call.invoke("terminal" if what == "terminal" else "read_file", **({"command": "echo x"} if what == "terminal" else {"path": what}))["text"]
    except Failure as e: return "no: " + str(e)

@plugin.tool("Ask a model.", text)
def spy_model(call, what): return call.complete(what)

@plugin.hook("pre_tool_call", tools="write_file", guard=True)
def look(call, params):
    content = params["tool"]["arguments"].get("content", "")
    if "forbidden" in content: return {"action": "block", "message": "that word is forbidden"}
    if "careful" in content: return {"action": "approve", "message": "careful was said"}
    if "typo" in content: return {"action": "modify", "arguments": {**params["tool"]["arguments"], "content": content.replace("typo", "type")}}

@plugin.hook("pre_llm_call")
def weather(call, params): return {"context": "The weather is fine."}

plugin.section("spying", "The spy tools only try things.")
plugin.run()
`

const spyManifest = `name: spy
version: "1"
program: [python3, ./main.py]
kinds: [tools, hooks, prompt]
capabilities:
  tools: [read_file]
  approvals: true
  complete: {}
  write: [%s]
  secrets: [{name: SPY_KEY, hosts: [api.example.org]}]
  hosts: [api.example.org, "declared.example.org:8080"]
`

// spied is a scene with the plugin, enabled as a command does it. Walls are around it if walls says
// so and this host allows them.
func spied(t *testing.T, answer hermes.Decision, walls bool) (s *scene, out string) {
	t.Helper()
	out = t.TempDir()
	s = withPlugin(t, answer, walls, "spy", spy, strings.Replace(spyManifest, "%s", out, 1))
	return s, out
}

// withPlugin is a scene with a plugin in Python.
func withPlugin(t *testing.T, answer hermes.Decision, walls bool, name, program, manifest string) *scene {
	t.Helper()
	s := newScene(t, answer)
	s.options = func(o *app.Options) {
		o.Sandbox.Keeper = walls
		o.Environ = func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "OPENAI_API_KEY=sk-not-for-plugins", "OTHER=of-the-user"}
		}
	}
	writeFile(t, filepath.Join(s.home, ".env"), "SPY_KEY=the-real-secret\n")
	s.addPlugin(name, program, manifest, nil)
	return s
}

// addPlugin gives a scene a plugin in Python, with more files, and enables it.
func (s *scene) addPlugin(name, program, manifest string, more map[string]string) {
	t := s.t
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := filepath.Join(s.home, "plugins", name)
	if _, err := plugin.Create(dir, name, "python"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "main.py"), program)
	writeFile(t, filepath.Join(dir, "plugin.yaml"), manifest)
	for file, text := range more {
		writeFile(t, filepath.Join(dir, file), text)
	}
	s.enablePlugin(name)
	s.config += "plugins: {enabled: [" + name + "]}\n"
}

// enablePlugin pins an installed plugin, as a command does it.
func (s *scene) enablePlugin(name string) {
	t := s.t
	t.Helper()
	dir := filepath.Join(s.home, "plugins", name)
	m, notes, err := plugin.ReadManifest(dir)
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	d, err := plugin.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{Home: s.home, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }}
	s.options(&o)
	a := app.New(o)
	offer, err := a.LookAtPlugin(t.Context(), dir, m)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if why := offer.Shadows(a.TakenTools()); why != "" {
		t.Error(why)
	}
	if err := plugin.PinsIn(filepath.Join(s.home, "plugins")).Set(t.Context(), name, plugin.Pin{Digest: d, Offer: offer}); err != nil {
		t.Fatal(err)
	}
}

// TestAPluginWorksInASession: its tools are offered and run, its hook guards what the model does,
// its section is in the prompt, what it adds is below the message, and its calls go through the
// tool chain.
func TestAPluginWorksInASession(t *testing.T) {
	t.Parallel()
	s, _ := spied(t, hermes.AllowOnce, false)
	s.write("note.txt", "a note")
	s.say(`CALL spy_variable {"what":"SPY_KEY"}`, `CALL spy_variable {"what":"OPENAI_API_KEY"}`, `CALL spy_variable {"what":"OTHER"}`,
		`CALL spy_invoke {"what":"note.txt"}`, `CALL spy_invoke {"what":"terminal"}`)
	got := s.model.results()
	for _, want := range []string{
		"The weather is fine.", "OPENAI_API_KEY is unset.", "OTHER is unset.", "a note", "not among capabilities.tools",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the model does not read %q in\n%s", want, got)
		}
	}
	if !strings.Contains(s.system(), "The spy tools only try things.") {
		t.Error("the section is not in the prompt")
	}
	s.asked = nil
	s.say(`CALL write_file {"path":"a.txt","content":"forbidden"}`, `CALL write_file {"path":"b.txt","content":"a typo"}`)
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
		t.Error("a call that the guard blocks ran")
	}
	if data, err := os.ReadFile(filepath.Join(s.dir, "b.txt")); err != nil || string(data) != "a type" {
		t.Errorf("a call that the hook changes wrote %q, %v", data, err)
	}
	s.say(`CALL write_file {"path":"c.txt","content":"careful"}`)
	asked := false
	for _, a := range s.asked {
		for _, r := range a.Risks {
			asked = asked || strings.Contains(r.Reason, "careful was said")
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "c.txt")); err != nil || !asked {
		t.Errorf("the user was asked %v: %+v", err, s.asked)
	}
	s.say(`CALL spy_model {"what":"Say something short."}`)
	if got := s.model.results(); !strings.Contains(got, "I have read") {
		t.Error("the model that the plugin asks:", got)
	}
}

// TestAPluginIsOptIn: without plugins.enabled, or with plugins.disabled, nothing of it is there.
func TestAPluginIsOptIn(t *testing.T) {
	t.Parallel()
	s, _ := spied(t, hermes.AllowOnce, false)
	for _, config := range []string{"", "plugins: {enabled: [spy], disabled: [spy]}\n"} {
		s.config = config
		s.say(`CALL spy_variable {"what":"HOME"}`)
		if got := s.model.results(); strings.Contains(got, "HOME is") || strings.Contains(got, "The weather") || strings.Contains(s.system(), "spy tools") {
			t.Errorf("with %q the plugin is used: %s", config, got)
		}
		s.quit()
	}
}

// TestAPluginThatIsNotUsedIsSaidInTheSession, once, with what to do.
func TestAPluginThatIsNotUsedIsSaidInTheSession(t *testing.T) {
	t.Parallel()
	s, _ := spied(t, hermes.AllowOnce, false)
	writeFile(t, filepath.Join(s.home, "plugins", "spy", "more.py"), "x = 1\n")
	s.config = "plugins: {enabled: [spy, none]}\n"
	s.say("hello")
	got := strings.Join(s.warned, "\n")
	if len(s.warned) != 2 || !strings.Contains(got, "spy is not used: its files have changed since you enabled it") || !strings.Contains(got, "hermes plugins enable none") {
		t.Errorf("the user is told %q", s.warned)
	}
}

// TestAHomeMayBeALink: what a plugin declares below it is meant where it leads.
func TestAHomeMayBeALink(t *testing.T) {
	t.Parallel()
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(real, home); err != nil {
		t.Skip(err)
	}
	if got := app.DeclaredPath("~/notes", home); got != filepath.Join(real, "notes") {
		t.Errorf("~/notes is %s", got)
	}
	if got := app.DeclaredPath(home+"/x/../notes", home); got != filepath.Join(home, "notes") {
		t.Errorf("an absolute path is %s", got)
	}
}

// TestLostPinsRefuse: if it is not known any more what was enabled, no call runs, until each plugin is enabled
// or disabled again. Settings that name a plugin that was never used here refuse nothing.
func TestLostPinsRefuse(t *testing.T) {
	t.Parallel()
	s, _ := spied(t, hermes.AllowOnce, false)
	folder := filepath.Join(s.home, "plugins")
	writes := func(name string) bool {
		t.Helper()
		s.warned, s.session = nil, ""
		s.say(`CALL write_file {"path":"` + name + `","content":"x"}`)
		s.quit()
		_, err := os.Stat(filepath.Join(s.dir, name))
		return err == nil
	}
	if !writes("before.txt") {
		t.Fatal("no call runs with the pins")
	}
	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove(".enabled.json")
	if writes("lost.txt") {
		t.Error("a call ran although the pins are gone")
	}
	if got := strings.Join(s.warned, "\n"); !strings.Contains(got, ".enabled.json is missing") || !strings.Contains(got, "hermes plugins disable NAME") {
		t.Errorf("the user is told %q", s.warned)
	}
	if err := plugin.PinsIn(folder).Set(t.Context(), "other", plugin.Pin{Digest: "x"}); err != nil {
		t.Fatal(err)
	}
	if writes("other.txt") {
		t.Error("a call ran although the pin of one plugin is gone")
	}
	if got := strings.Join(s.warned, "\n"); !strings.Contains(got, "hermes plugins enable spy") {
		t.Errorf("the user is told %q", s.warned)
	}
	remove(".enabled.json", ".enabled.json.lock.lock")
	if writes("all.txt") {
		t.Error("a call ran of a home where the plugin was started before")
	}
	s.enablePlugin("spy")
	if !writes("after.txt") {
		t.Error("no call runs after the plugin was enabled again")
	}
	s.config = "plugins: {enabled: [spy, never]}\n"
	if !writes("never.txt") {
		t.Error("no call runs because settings name a plugin that was never there")
	}
}

// TestThePluginsCommandSaysWhatEachDoes: what runs, what has failed and why, what is not used, and what to
// type in a shell.
func TestThePluginsCommandSaysWhatEachDoes(t *testing.T) {
	t.Parallel()
	s, _ := spied(t, hermes.AllowOnce, false)
	s.config = ""
	s.enter()
	if done := s.command("/plugins"); !strings.Contains(done.Text, "No plugin is enabled") {
		t.Errorf("without plugins: %+v", done)
	}
	s.quit()
	s.session, s.config = "", "plugins: {enabled: [spy, none]}\n"
	s.enter()
	done := s.command("/plugins")
	for _, want := range []string{"**spy** 1: not started, 7 tools, 2 hooks, 1 section of the prompt", "**none**: not used: the plugin none is named in plugins.enabled", "hermes plugins enable none"} {
		if !strings.Contains(done.Text, want) {
			t.Errorf("/plugins does not say %q:\n%s", want, done.Text)
		}
	}
	s.say(`CALL spy_variable {"what":"HOME"}`)
	if done := s.command("/plugins"); !strings.Contains(done.Text, "**spy** 1: running") {
		t.Errorf("while it runs: %s", done.Text)
	}
	if done := s.command("/plugins SPY"); !strings.Contains(done.Text, "tool `spy_read` Read a file.") || !strings.Contains(done.Text, "hook `pre_tool_call write_file`, refuses if it fails") {
		t.Errorf("one plugin: %s", done.Text)
	}
	if done := s.command("/plugins disable spy"); !strings.Contains(done.Text, "hermes plugins disable spy") {
		t.Errorf("a verb: %+v", done)
	}
	if done := s.command("/plugins other"); done.Failure == nil || !strings.Contains(done.Failure.Text, "hermes plugins list") {
		t.Errorf("one that is not there: %+v", done)
	}
	s.quit()
	writeFile(t, filepath.Join(s.home, "plugins", "spy", "more.py"), "x = 1\n")
	s.enter()
	if done := s.command("/plugins"); !strings.Contains(done.Text, "**spy**: not used, and what it guards is refused: its files have changed") {
		t.Errorf("after a change: %s", done.Text)
	}
}
