package hooks_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/hooks"
)

// desk runs `hermes hooks` in a folder with a script.
type desk struct {
	t         *testing.T
	home, dir string
}

func newDesk(t *testing.T, settings string) *desk {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a Unix")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t, t.TempDir(), dir}
	d.write(filepath.Join(d.home, "config.yaml"), settings)
	return d
}

func (d *desk) write(path, text string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		d.t.Fatal(err)
	}
}

// run runs a command after the user has agreed to all hooks, if agree is set.
func (d *desk) run(agree bool, args ...string) (string, error) {
	d.t.Helper()
	var out bytes.Buffer
	f := factory.New(app.Options{Home: d.home, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }}, factory.IO{Terminal: func() bool { return false }})
	f.Dir = func() (string, error) { return d.dir, nil }
	defer f.Close()
	if agree {
		if err := f.App().AgreeToHooks(d.t.Context(), "test", f.App().Hooks(d.dir)...); err != nil {
			d.t.Fatal(err)
		}
	}
	cmd := hooks.NewCmd(f)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(d.t.Context())
	return out.String(), err
}

const settings = `
hooks:
  PreToolUse:
    - matcher: Write
      hooks: [{type: command, command: ./check.sh}]
`

// TestAHookIsListedTriedAndRevoked.
func TestAHookIsListedTriedAndRevoked(t *testing.T) {
	t.Parallel()
	d := newDesk(t, settings)
	script := filepath.Join(d.dir, "check.sh")
	d.write(script, "#!/bin/sh\ncat > /dev/null\necho no writes today >&2\nexit 2\n")
	want := func(agree bool, parts string, args ...string) string {
		t.Helper()
		out, err := d.run(agree, args...)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		for part := range strings.SplitSeq(parts, "|") {
			if !strings.Contains(out, part) {
				t.Errorf("%q: %q is missing in\n%s", args, part, out)
			}
		}
		return out
	}
	want(false, "PreToolUse|Write|waits|./check.sh", "list")
	want(false, "not run: you have not agreed", "test", "PreToolUse")
	want(true, "agreed", "list")
	out := want(false, `"tool_name":"Write"|"file_path":"`+d.dir+`/example.txt"|refuses: no writes today| ms`, "test", "PreToolUse")
	if strings.Contains(out, "not run") {
		t.Error(out)
	}
	var views []map[string]any
	if err := json.Unmarshal([]byte(want(false, "", "list", "--json")), &views); err != nil || len(views) != 1 || views[0]["state"] != "agreed" || views[0]["by"] != "test" {
		t.Errorf("%v, %v", views, err)
	}
	d.write(script, "#!/bin/sh\nexit 0\n")
	want(false, "changed", "list")
	d.write(script, "#!/bin/sh\ncat > /dev/null\necho no writes today >&2\nexit 2\n")
	want(false, "No longer runs: PreToolUse ./check.sh", "revoke", "./check.sh")
	want(false, "waits", "list")
	if _, err := d.run(false, "revoke", "./check.sh"); err == nil {
		t.Error("revoked twice")
	}
	if _, err := d.run(false, "test", "PreTool"); err == nil || !strings.Contains(err.Error(), "not a known event") {
		t.Errorf("got %v", err)
	}
	want(false, "pre_tool_call|before a call is judged|waits for the gateway", "list", "--events")
}

// TestDoctorNamesWhatIsWrong: mistakes, what has changed, programs that are missing, and with --run broken answers.
func TestDoctorNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `
hooks:
  PretoolUse: [{command: a}]
  kanban_task_claimed: [{command: a}]
  PreToolUse:
    - matcher: Bash
      hooks: [{type: command, command: "no-such-program --x | sort"}, {type: command, command: "./check.sh"}]
  pre_llm_call:
    - {command: ./broken.sh, timeot: 3}
  post_tool_call: [{matcher: writefile, command: "true"}, {matcher: mcp__x__y, command: "true"}]
`)
	d.write(filepath.Join(d.dir, "check.sh"), "#!/bin/sh\n")
	d.write(filepath.Join(d.dir, "broken.sh"), "#!/bin/sh\necho '{\"context\": '\n")
	out, err := d.run(true, "doctor")
	if err == nil {
		t.Error("no error")
	}
	d.write(filepath.Join(d.dir, "check.sh"), "#!/bin/sh\nexit 1\n")
	d.write(filepath.Join(d.home, "shell-hooks-allowlist.json"), `{"approvals":[{"event":"pre_tool_call","command":"./check.sh"}]}`)
	more, err := d.run(false, "doctor", "--run")
	if err == nil {
		t.Error("no error")
	}
	for _, want := range []struct{ in, text string }{
		{out, "hooks.PretoolUse is not a known event; did you mean PreToolUse?"}, {out, "waits for the kanban board"}, {out, "there is no program no-such-program"}, {out, "names writefile, which is no tool for this event; did you mean write_file?"}, {out, "timeot is not a known key"},
		{out, "Bash|execute_code|process"}, {more, "check.sh changed since you agreed"}, {more, "agrees to nothing here"}, {more, "pre_llm_call ./broken.sh failed: its answer is no JSON"},
	} {
		if !strings.Contains(want.in, want.text) {
			t.Errorf("%q is missing in\n%s", want.text, want.in)
		}
	}
	if strings.Contains(out, "broken.sh failed") || strings.Contains(out, "sort") && strings.Contains(out, "no program sort") {
		t.Error(out)
	}
	if strings.Contains(out, "mcp__x__y, which") {
		t.Error(out)
	}
	if list, err := d.run(false, "list"); err != nil || !strings.Contains(list, "did you mean write_file?") {
		t.Errorf("%s, %v", list, err)
	}
	if list, err := d.run(false, "list", "--json"); err != nil || strings.Count(list, `"warning"`) != 1 {
		t.Errorf("%s, %v", list, err)
	}
	d = newDesk(t, settings)
	d.write(filepath.Join(d.dir, "check.sh"), "#!/bin/sh\n")
	if out, err := d.run(true, "doctor"); err != nil || !strings.Contains(out, "nothing is wrong") {
		t.Errorf("%s, %v", out, err)
	}
}
