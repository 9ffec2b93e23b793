package plugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/plugin"
)

// threeHooks are plugins with hooks at one event, of different tools: the first blocks mkfs in a terminal,
// the second corrects what is written, and the third, a guard, sees what the second left.
var threeHooks = map[string]struct{ program, main, code string }{
	"python": {"python3", "main.py", `
import subprocess
from hermes_plugin import Plugin
plugin = Plugin("three", "1")

@plugin.hook("pre_tool_call", tools="terminal")
def first(call, params):
    if "mkfs" in str(params["tool"]["arguments"]):
        return {"action": "block", "message": "no mkfs"}
    raise ValueError("it has nothing to say")

@plugin.hook("pre_tool_call", tools="write_.*", timeout=40)
def second(call, params):
    return {"action": "modify", "arguments": {"content": params["tool"]["arguments"]["content"].replace("typo", "type")}}

@plugin.hook("pre_tool_call", tools="write_file|terminal", guard=True)
def third(call, params):
    if "type" in str(params["tool"]["arguments"]):
        return {"action": "block", "message": "third saw type"}

@plugin.tool("Run programs.", {"type": "object", "properties": {}})
def three_programs(call):
    print("printed")
    return " ".join(str(subprocess.run(c).returncode) for c in (["cat"], ["printf", "abc"]))

plugin.run()
`},
	"typescript": {"node", "main.mjs", `
import { Plugin } from './hermes_plugin.mjs'
const plugin = new Plugin('three', '1')
plugin.hook({ event: 'pre_tool_call', tools: 'terminal' }, (call, p) => {
  if (String(p.tool.arguments.command).includes('mkfs')) return { action: 'block', message: 'no mkfs' }
  throw new Error('it has nothing to say')
})
plugin.hook({ event: 'pre_tool_call', tools: 'write_.*', timeout: 40 }, async (call, p) => ({ action: 'modify', arguments: { content: p.tool.arguments.content.replace('typo', 'type') } }))
plugin.hook({ event: 'pre_tool_call', tools: 'write_file|terminal', guard: true }, (call, p) => {
  if (String(p.tool.arguments.content).includes('type')) return { action: 'block', message: 'third saw type' }
})
plugin.run()
`},
	"go": {"go", "main.go", `package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
)

func main() {
	p := &Plugin{Name: "three", Version: "1", Hooks: []Hook{
		{Event: "pre_tool_call", Tools: "terminal", Run: func(_ context.Context, _ *Call, e Event) (Verdict, error) {
			if strings.Contains(string(e.Tool.Arguments), "mkfs") {
				return Verdict{Action: "block", Message: "no mkfs"}, nil
			}
			return Verdict{}, errors.New("it has nothing to say")
		}},
		{Event: "pre_tool_call", Tools: "write_.*", Timeout: 40, Run: func(_ context.Context, _ *Call, e Event) (Verdict, error) {
			return Verdict{Action: "modify", Arguments: bytes.ReplaceAll(e.Tool.Arguments, []byte("typo"), []byte("type"))}, nil
		}},
		{Event: "pre_tool_call", Tools: "write_file|terminal", Guard: true, Run: func(_ context.Context, _ *Call, e Event) (Verdict, error) {
			if strings.Contains(string(e.Tool.Arguments), "type") {
				return Verdict{Action: "block", Message: "third saw type"}, nil
			}
			return Verdict{}, nil
		}},
	}}
	p.Run()
}
`},
}

// made is a plugin of a language in a folder of its own, with another main file.
func made(t *testing.T, language string) (folder string) {
	t.Helper()
	p := threeHooks[language]
	needs(t, p.program)
	folder = t.TempDir()
	dir := filepath.Join(folder, "three")
	if _, err := plugin.Create(dir, "three", language); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, p.main), []byte(p.code), 0o600); err != nil {
		t.Fatal(err)
	}
	if language == "go" {
		build := exec.Command("go", "build", "-o", "plugin", "./")
		build.Dir = dir
		build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return folder
}

// TestHooksOfTemplatesSeeTheirToolsOnly: in each language, Hermes calls once, the functions whose tools fit
// run in their order, and a guard sees what one before it changed.
func TestHooksOfTemplatesSeeTheirToolsOnly(t *testing.T) {
	t.Parallel()
	for language := range threeHooks {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			folder := made(t, language)
			f := &fixture{t: t, all: enabled(t, folder, "three")}
			pins, err := plugin.PinsIn(folder).Read()
			want := plugin.Hook{Event: "pre_tool_call", Tools: "(?:terminal)|(?:write_.*)|(?:write_file|terminal)", Guard: true, Timeout: 40}
			if got := pins["three"].Offer.Hooks; err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("it offers %+v, %v", got, err)
			}
			for _, tt := range []struct{ tool, arguments, refused, left string }{
				{"terminal", `{"command":"mkfs x"}`, "no mkfs", ""},
				{"terminal", `{"command":"typo"}`, "", `{"command":"typo"}`},
				{"write_note", `{"content":"mkfs typo"}`, "", `{"content":"mkfs type"}`},
				{"write_file", `{"content":"typo"}`, "third saw type", ""},
				{"read_file", `{"content":"mkfs typo"}`, "", `{"content":"mkfs typo"}`},
			} {
				c, why := f.before(&host{}, tt.tool, tt.arguments)
				if (why != "") != (tt.refused != "") || !strings.Contains(why, tt.refused) {
					t.Errorf("%s %s: %q", tt.tool, tt.arguments, why)
				}
				if why == "" && strings.ReplaceAll(string(c.Arguments), " ", "") != strings.ReplaceAll(tt.left, " ", "") {
					t.Errorf("%s %s: the call is now %s", tt.tool, tt.arguments, c.Arguments)
				}
			}
		})
	}
}

// TestProgramsOfThePythonTemplateShareNoStreams with the protocol: later calls work.
func TestProgramsOfThePythonTemplateShareNoStreams(t *testing.T) {
	t.Parallel()
	f := &fixture{t: t, all: enabled(t, made(t, "python"), "three")}
	for range 2 {
		r, err := f.run(t.Context(), &host{}, "three_programs", `{}`)
		if r.Text != "0 0" || err != nil {
			t.Fatal(r, err)
		}
	}
}
