package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/protocol"
	"hermes/internal/sandbox"
	"hermes/internal/trust"
)

// hooked is a scene whose program agrees to all hooks.
func hooked(t *testing.T, answer hermes.Decision, settings string) *scene {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a Unix")
	}
	s := newScene(t, answer)
	s.config = "hooks_auto_accept: true\n" + settings
	return s
}

// inWalls has the commands of a scene run behind the strongest walls of this host, through the shell of the program.
func inWalls(t *testing.T, s *scene, layer sandbox.Layer) {
	t.Helper()
	if sandbox.Expect() < layer {
		if os.Getenv("CI") == "true" {
			t.Fatalf("this host has no walls of layer %v", layer)
		}
		t.Skipf("this host has no walls of layer %v", layer)
	}
	options := s.options
	s.options = func(o *app.Options) {
		if options != nil {
			options(o)
		}
		o.Sandbox.Keeper, o.Sandbox.Strongest = true, layer
	}
}

// TestScriptsOfClaudeCodeRunUnchanged runs those of docs/hooks.md with the settings there, without walls and behind those of
// each layer.
func TestScriptsOfClaudeCodeRunUnchanged(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.None, sandbox.B, sandbox.A} {
		t.Run(layer.String(), func(t *testing.T) {
			t.Parallel()
			m := readManual(t)
			s := hooked(t, hermes.AllowOnce, m.settings[0])
			m.install(s)
			s.write("build/x", "x")
			if layer > sandbox.None {
				inWalls(t, s, layer)
			}
			s.say(`CALL terminal {"command":"rm -rf build"}`, `CALL write_file {"path":"a.txt","content":"one   \ntwo\t\n"}`)
			if _, err := os.Stat(filepath.Join(s.dir, "build")); err != nil || len(s.asked) > 0 {
				t.Errorf("the delete was not refused: %v, asked %+v", err, s.asked)
			}
			if b, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); string(b) != "one\ntwo\n" {
				t.Errorf("a.txt was not formatted: %q", b)
			}
			log, _ := os.ReadFile(filepath.Join(s.dir, "logs", "prompts.log"))
			if !strings.Contains(string(log), s.session) || !strings.Contains(string(log), "rm -rf build") || strings.Contains(string(log), "Rule of") {
				t.Errorf("the log has %q", log)
			}
			if answers, _ := os.ReadFile(filepath.Join(s.dir, "logs", "answers.log")); !strings.HasSuffix(string(answers), "\"I have read: \"\n") {
				t.Errorf("the answers are %q", answers)
			}
			read := s.model.results()
			for _, want := range []string{"recursive delete is not allowed", "formatted a.txt", "Rule of the team"} {
				if !strings.Contains(read, want) {
					t.Errorf("the model did not read %q", want)
				}
			}
			if len(s.warned) > 0 {
				t.Errorf("warned %q", s.warned)
			}
			shown(t, s, "Rule of the team")
		})
	}
}

// shown fails if the user is shown a text of a message.
func shown(t *testing.T, s *scene, text string) {
	t.Helper()
	db, err := s.app.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Messages(t.Context(), s.session, hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Role == hermes.RoleUser && strings.Contains(m.Visible(), text) {
			t.Errorf("the user sees %q", m.Visible())
		}
	}
}

// TestAHookRunsOnlyAfterConsent: not without a yes, with it, and not again once its script has changed; a guard
// without consent refuses, and the user is told once.
func TestAHookRunsOnlyAfterConsent(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config = `
hooks:
  post_tool_call:
    - {matcher: write_file, command: "./note.sh"}
`
	note := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.dir, "note.sh"), []byte("#!/bin/sh\ncat > /dev/null\necho "+text+" >> ran.txt\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ran := func() string {
		b, _ := os.ReadFile(filepath.Join(s.dir, "ran.txt"))
		return strings.Join(strings.Fields(string(b)), " ")
	}
	note("one")
	s.say(`CALL write_file {"path":"a.txt","content":"1"}`, `CALL write_file {"path":"b.txt","content":"1"}`)
	if ran() != "" || len(s.warned) != 1 || !strings.Contains(s.warned[0], "not agreed") {
		t.Fatalf("ran %q, warned %q", ran(), s.warned)
	}
	agree(t, s)
	s.say(`CALL write_file {"path":"a.txt","content":"2"}`)
	if ran() != "one" {
		t.Fatalf("with consent ran %q", ran())
	}
	note("two")
	s.say(`CALL write_file {"path":"a.txt","content":"3"}`)
	if ran() != "one" {
		t.Fatalf("a changed script ran: %q", ran())
	}
	if left := s.app.Hooks(s.dir); len(left) != 1 || left[0].State != app.HookChanged || len(left[0].Changed) != 1 {
		t.Errorf("waiting %+v", left)
	}
	agree(t, s)
	s.say(`CALL write_file {"path":"a.txt","content":"4"}`)
	if ran() != "one two" {
		t.Errorf("ran %q", ran())
	}
	s.quit()
	s.session = ""
	s.config = "hooks:\n  pre_tool_call:\n  - {command: \"true\", fail_closed: true}\n"
	s.say(`CALL write_file {"path":"guarded.txt","content":"1"}`)
	if _, err := os.Stat(filepath.Join(s.dir, "guarded.txt")); err == nil {
		t.Error("a guard without consent let a call pass")
	}
}

// agree agrees to all hooks of a scene.
func agree(t *testing.T, s *scene) {
	t.Helper()
	if err := s.app.AgreeToHooks(t.Context(), "test", s.app.Hooks(s.dir)...); err != nil {
		t.Fatal(err)
	}
}

// TestWhatAHookAsksTheUserDecides each time: no stored answer, rule or mode but yolo silences it, and no verdict
// allows what a rule denies.
func TestWhatAHookAsksTheUserDecides(t *testing.T) {
	t.Parallel()
	const ask = `
hooks:
  PreToolUse:
    - matcher: "Write|Bash"
      hooks:
        - {command: "cat > /dev/null; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"VERDICT\",\"permissionDecisionReason\":\"a release is near\"}}'"}
`
	call := func(n string) string { return `CALL write_file {"path":"a.txt","content":"` + n + `"}` }
	t.Run("each time", func(t *testing.T) {
		t.Parallel()
		s := hooked(t, hermes.AllowAlways, strings.Replace(ask, "VERDICT", "ask", 1))
		writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- {allow: 'write_file: **'}\n")
		s.rights = hermes.Rights{Allow: []string{"write_file"}}
		s.say(call("1"))
		s.say(call("2"))
		if len(s.asked) != 2 || !strings.Contains(s.asked[0].Risks[0].Reason, "a release is near") || len(s.asked[0].Always)+len(s.asked[0].Session) > 0 {
			t.Errorf("asked %+v", s.asked)
		}
	})
	t.Run("in accept-edits", func(t *testing.T) {
		t.Parallel()
		s := hooked(t, hermes.Deny, strings.Replace(ask, "VERDICT", "ask", 1))
		s.rights = hermes.Rights{Mode: hermes.ModeAcceptEdits}
		s.say(call("1"))
		if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil || len(s.asked) != 1 {
			t.Errorf("asked %+v, the file: %v", s.asked, err)
		}
	})
	t.Run("in yolo", func(t *testing.T) {
		t.Parallel()
		s := hooked(t, hermes.Deny, strings.Replace(ask, "VERDICT", "ask", 1))
		s.rights = hermes.Rights{Mode: hermes.ModeYolo}
		s.say(call("1"))
		if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err != nil || len(s.asked) != 0 {
			t.Errorf("asked %+v, the file: %v", s.asked, err)
		}
	})
	t.Run("unattended", func(t *testing.T) {
		t.Parallel()
		s := hooked(t, "", strings.Replace(ask, "VERDICT", "ask", 1))
		s.rights = hermes.Rights{WhenUnattended: hermes.UnattendedApprove}
		s.say(call("1"))
		if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
			t.Error("ran without the user")
		}
	})
	t.Run("allow", func(t *testing.T) {
		t.Parallel()
		s := hooked(t, hermes.Deny, strings.Replace(ask, "VERDICT", "allow", 1))
		writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- {deny: 'write_file: **'}\n")
		s.write("build/x", "x")
		s.say(call("1"), `CALL terminal {"command":"rm -rf build"}`)
		_, written := os.Stat(filepath.Join(s.dir, "a.txt"))
		_, there := os.Stat(filepath.Join(s.dir, "build"))
		if written == nil || there != nil || len(s.asked) != 1 || s.asked[0].Tool != "terminal" {
			t.Errorf("a.txt: %v, build: %v, asked %+v", written, there, s.asked)
		}
	})
}

// TestWhatAHookChangesIsJudgedAgain: a rule denies the arguments that a hook wrote.
func TestWhatAHookChangesIsJudgedAgain(t *testing.T) {
	t.Parallel()
	const change = `
hooks:
  PreToolUse:
    - matcher: Write
      hooks:
        - {command: "sed 's/.*\"file_path\":\"\\([^\"]*\\)from\\.txt\".*/{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"file_path\":\"\\1to.txt\"}}}/'"}
`
	for _, denied := range []bool{false, true} {
		s := hooked(t, hermes.AllowOnce, change)
		if denied {
			writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- {deny: 'write_file: **/to.txt'}\n")
		}
		s.say(`CALL write_file {"path":"from.txt","content":"1"}`)
		_, from := os.Stat(filepath.Join(s.dir, "from.txt"))
		_, to := os.Stat(filepath.Join(s.dir, "to.txt"))
		if from == nil || (to == nil) == denied {
			t.Errorf("denied %v: from.txt %v, to.txt %v; read %s", denied, from, to, s.model.results())
		}
	}
}

// TestAGuardSeesWhatALaterHookChanges: it refuses what that wrote, and not only what the model wrote.
func TestAGuardSeesWhatALaterHookChanges(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, `
hooks:
  PreToolUse:
    - matcher: Write
      hooks:
        - {command: "if grep -q to.txt; then echo 'not there' >&2; exit 2; fi"}
  pre_tool_call:
    - {matcher: write_file, command: "sh ./change.sh"}
`)
	s.write("change.sh", `if grep -q from.txt; then echo '{"action":"modify","args":{"path":"to.txt"}}'; fi`)
	s.say(`CALL write_file {"path":"from.txt","content":"1"}`, `CALL write_file {"path":"other.txt","content":"1"}`)
	_, other := os.Stat(filepath.Join(s.dir, "other.txt"))
	_, to := os.Stat(filepath.Join(s.dir, "to.txt"))
	if to == nil || other != nil || !strings.Contains(s.model.results(), "not there") {
		t.Errorf("to.txt: %v, other.txt: %v; read %s", to, other, s.model.results())
	}
}

// TestARuleOfClaudeCodeNarrowsAHook: it refuses the calls that fit its key if, and no others.
func TestARuleOfClaudeCodeNarrowsAHook(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, `
hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks: [{type: command, if: "Bash(touch kept*)", command: "echo 'not this one' >&2; exit 2"}]
    - matcher: "Edit|Write"
      hooks: [{type: command, if: "Edit(src/*.ts)", command: "echo 'not this one' >&2; exit 2"}]
`)
	s.say(`CALL terminal {"command":"true && touch kept.txt"}`, `CALL terminal {"command":"touch other.txt"}`,
		`CALL write_file {"path":"src/a.ts","content":"1"}`, `CALL write_file {"path":"src/a.js","content":"1"}`)
	for name, want := range map[string]bool{"kept.txt": false, "other.txt": true, "src/a.ts": false, "src/a.js": true} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if len(s.warned) > 0 {
		t.Errorf("warned %q", s.warned)
	}
}

// projectHook gives the project of a scene a hook, whose script is in .hermes/hooks.
func projectHook(s *scene, settings, script string) {
	s.t.Helper()
	s.write(".git/HEAD", "ref: refs/heads/main")
	s.write(".hermes/config.yaml", settings)
	s.write(".hermes/hooks/check.sh", script)
	if err := os.Chmod(filepath.Join(s.dir, ".hermes", "hooks", "check.sh"), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// trusts has the user trust the settings of the project as they are.
func (s *scene) trusts() {
	s.t.Helper()
	p, _, err := s.app.Project(s.dir)
	if err == nil {
		err = s.app.DecideTrust(s.t.Context(), p, trust.Trusted)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestHooksOfAProjectRunWhenItIsTrusted: not before, not even to refuse, and then from the bytes that were trusted,
// whatever is in their place. What they say is text of others.
func TestHooksOfAProjectRunWhenItIsTrusted(t *testing.T) {
	t.Parallel()
	for _, walls := range []bool{false, true} {
		s := hooked(t, hermes.AllowOnce, "")
		if walls {
			inWalls(t, s, sandbox.B)
		}
		const settings = `
hooks:
  post_tool_call:
    - {matcher: write_file, command: ".hermes/hooks/check.sh one"}
  UserPromptSubmit:
    - hooks: [{type: command, command: "\"$CLAUDE_PROJECT_DIR/.hermes/hooks/check.sh\" two"}]
  pre_tool_call:
    - {matcher: patch, command: ".hermes/hooks/missing.sh", fail_closed: true}
    - {matcher: write_file, type: http, url: "http://127.0.0.1:1/", fail_closed: true}
memory: {provider: evil}
`
		projectHook(s, settings, "#!/bin/sh\ncat > /dev/null\n[ $1 = one ] && echo \"$1\" >> ran.txt\n[ $1 = two ] && echo the words of a stranger")
		ran := func() string {
			b, _ := os.ReadFile(filepath.Join(s.dir, "ran.txt"))
			return string(b)
		}
		s.say(`CALL write_file {"path":"a.txt","content":"1"}`, `CALL patch {"path":"a.txt","old_string":"1","new_string":"2"}`)
		if b, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); ran() != "" || strings.Contains(s.model.results(), "stranger") || string(b) != "2" {
			t.Fatalf("walls %v: before it was trusted ran %q, a.txt %q", walls, ran(), b)
		}
		s.trusts()
		s.say(`CALL write_file {"path":"b.txt","content":"1"}`)
		if ran() != "one\n" || !strings.Contains(s.model.results(), "the words of a stranger") {
			t.Fatalf("walls %v: ran %q, read %s, warned %q", walls, ran(), s.model.results(), s.warned)
		}
		s.say(`CALL patch {"path":"a.txt","old_string":"2","new_string":"3"}`)
		if b, _ := os.ReadFile(filepath.Join(s.dir, "a.txt")); string(b) != "2" {
			t.Errorf("walls %v: a guard whose script is missing let a call pass", walls)
		}
		s.asked = nil
		s.say(`CALL memory {"target":"memory","action":"add","content":"something"}`)
		if len(s.asked) != 1 || !strings.Contains(s.asked[0].Risks[0].Reason, "hook") {
			t.Errorf("walls %v: after a hook of a project spoke, the memory asked %+v", walls, s.asked)
		}
		// The session goes on with what was trusted.
		s.write(".hermes/hooks/check.sh", "#!/bin/sh\necho changed > evil.txt")
		s.say(`CALL write_file {"path":"c.txt","content":"1"}`)
		if _, err := os.Stat(filepath.Join(s.dir, "evil.txt")); err == nil || ran() != "one\none\n" {
			t.Errorf("walls %v: ran %q, a changed script ran: %v", walls, ran(), err == nil)
		}
		s.quit()
		s.session = ""
		s.say(`CALL write_file {"path":"d.txt","content":"1"}`)
		if ran() != "one\none\n" {
			t.Errorf("walls %v: hooks ran after their project changed: %q", walls, ran())
		}
	}
}

// TestWhatWasTrustedIsOutOfReach: no tool writes the copies of a project's scripts, and no hook has their folder as its
// own.
func TestWhatWasTrustedIsOutOfReach(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, "")
	projectHook(s, "hooks:\n  post_tool_call:\n  - {matcher: write_file, command: .hermes/hooks/check.sh}\n", "#!/bin/sh\ncat > /dev/null\necho one >> ran.txt")
	s.enter()
	s.trusts()
	s.say(`CALL write_file {"path":"a.txt","content":"1"}`)
	copies := filepath.Join(s.home, "hook-copies")
	found, err := filepath.Glob(filepath.Join(copies, "*", ".hermes", "hooks", "check.sh"))
	if err != nil || len(found) != 1 {
		t.Fatalf("copies %q, %v", found, err)
	}
	s.say(`CALL write_file {"path":"` + found[0] + `","content":"#!/bin/sh\necho evil >> ran.txt"}`)
	if b, _ := os.ReadFile(filepath.Join(s.dir, "ran.txt")); string(b) != "one\none\n" {
		t.Errorf("ran %q", b)
	}
	cfg, err := s.app.Config()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := app.HookDir(s.app, cfg, hermes.RunSpec{Workspace: hermes.Workspace{Backend: "docker", Dir: "/work"}})
	rel, err := filepath.Rel(elsewhere, found[0])
	if info, stat := os.Stat(elsewhere); err != nil || filepath.IsLocal(rel) || stat != nil || !info.IsDir() || strings.HasPrefix(elsewhere, copies) {
		t.Errorf("hooks run in %s, copies are in %s; %v", elsewhere, copies, stat)
	}
}

// TestAHookOfAProjectMayNameOtherFiles beside those that are copied: it runs once the user has agreed to them, and the list
// says when it does.
func TestAHookOfAProjectMayNameOtherFiles(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	projectHook(s, `
hooks:
  post_tool_call:
    - {matcher: write_file, command: ".hermes/hooks/check.sh words.txt"}
`, "#!/bin/sh\ncat $1 >> ran.txt")
	s.write("words.txt", "one")
	state := func() app.HookState {
		t.Helper()
		list := s.app.Hooks(s.dir)
		if len(list) != 1 {
			t.Fatalf("hooks %+v", list)
		}
		return list[0].State
	}
	s.enter()
	s.trusts()
	for i, want := range []app.HookState{app.HookWaits, app.HookAgreed, app.HookChanged} {
		switch want {
		case app.HookAgreed:
			agree(t, s)
		case app.HookChanged:
			s.write("words.txt", "two")
		}
		if got := state(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		_ = os.Remove(filepath.Join(s.dir, "ran.txt"))
		s.say(fmt.Sprintf(`CALL write_file {"path":"%d.txt","content":"1"}`, i))
		if b, _ := os.ReadFile(filepath.Join(s.dir, "ran.txt")); (string(b) == "one\n") != (want == app.HookAgreed) {
			t.Errorf("%s: it printed %q; warned %q", want, b, s.warned)
		}
	}
}

// TestHooksOfAProjectRunInItsFolder, also if the session works in a folder below: they find their scripts, their paths
// and what they may write there.
func TestHooksOfAProjectRunInItsFolder(t *testing.T) {
	t.Parallel()
	for _, walls := range []bool{false, true} {
		s := hooked(t, hermes.AllowOnce, "")
		if walls {
			inWalls(t, s, sandbox.B)
		}
		projectHook(s, `
hooks:
  post_tool_call:
    - {matcher: write_file, command: ".hermes/hooks/check.sh own"}
  PostToolUse:
    - hooks: [{command: "\"$CLAUDE_PROJECT_DIR/.hermes/hooks/check.sh\" claude"}]
`, "#!/bin/sh\ncat >> read.txt\necho $1 >> ran.txt")
		root := s.dir
		s.dir = filepath.Join(root, "below", "it")
		s.write("x", "")
		s.enter()
		s.trusts()
		s.say(`CALL write_file {"path":"a.txt","content":"1"}`)
		ran, _ := os.ReadFile(filepath.Join(root, "ran.txt"))
		read, _ := os.ReadFile(filepath.Join(root, "read.txt"))
		if string(ran) != "claude\nown\n" || strings.Count(string(read), `"cwd":"`+s.live.Workspace().Dir+`"`) != 2 {
			t.Errorf("walls %v: ran %q, read %s; warned %q", walls, ran, read, s.warned)
		}
	}
}

// TestEventsOfASessionRunHooks: each event of a session with a child, in its order, and once.
func TestEventsOfASessionRunHooks(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, "")
	var rows strings.Builder
	for _, name := range []string{
		"on_session_start", "SessionStart", "pre_llm_call", "UserPromptSubmit", "pre_api_request", "post_api_request", "pre_tool_call", "PreToolUse", "post_tool_call", "PostToolUse",
		"subagent_start", "SubagentStart", "subagent_stop", "SubagentStop", "pre_verify", "Stop", "post_llm_call", "on_session_end", "SessionEnd",
	} {
		fmt.Fprintf(&rows, "  %s: [{hooks: [{command: \"cat > /dev/null; echo %s >> events.txt\"}]}]\n", name, name)
	}
	s.config += "hooks:\n" + rows.String()
	s.say(`CALL errand {"goal":"say something"}`)
	s.quit()
	b, err := os.ReadFile(filepath.Join(s.dir, "events.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`SessionStart on_session_start UserPromptSubmit pre_llm_call pre_api_request post_api_request PreToolUse pre_tool_call SubagentStart subagent_start
		pre_api_request post_api_request SubagentStop subagent_stop PostToolUse post_tool_call pre_api_request post_api_request Stop post_llm_call pre_verify SessionEnd on_session_end`)
	if got := strings.Fields(string(b)); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestARefusedMessageKeepsTheTextOfTheStart: the model reads it with the first message that is stored, and once.
func TestARefusedMessageKeepsTheTextOfTheStart(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, `
hooks:
  SessionStart:
    - hooks: [{command: "cat > /dev/null; echo the words of the start"}]
  UserPromptSubmit:
    - hooks: [{command: "if grep -q password; then echo 'no passwords' >&2; exit 2; fi"}]
`)
	s.enter()
	err := s.live.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: "my password is x"}}})
	if err == nil || !strings.Contains(err.Error(), "no passwords") {
		t.Fatalf("not refused: %v", err)
	}
	s.say("hello")
	s.say("hello again")
	if read := s.model.results(); strings.Count(read, "the words of the start") != 1 || strings.Contains(read, "password is") {
		t.Errorf("read %s", read)
	}
}

// TestAHookIsToldWhatTheUserIsAsked, beside the question, and what they decided.
func TestAHookIsToldWhatTheUserIsAsked(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, `
hooks:
  Notification:
    - matcher: permission_prompt
      hooks: [{type: command, command: "sed 's/^/Notification /' >> told.txt"}]
    - matcher: elicitation_dialog
      hooks: [{type: command, command: "sed 's/^/question /' >> told.txt"}]
  pre_approval_request:
    - {matcher: terminal, command: "sh ./tell.sh before"}
    - {matcher: write_file, command: "sh ./tell.sh wrong"}
  post_approval_response:
    - {command: "sh ./tell.sh after"}
`)
	s.write("tell.sh", `sed "s/^/$1 /" >> told.txt`)
	s.write("build/x", "x")
	s.say(`CALL terminal {"command":"rm -rf build"}`)
	var lines []string
	for late := time.Now().Add(30 * time.Second); len(lines) < 3 && time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		b, _ := os.ReadFile(filepath.Join(s.dir, "told.txt"))
		lines = strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	if len(lines) != 3 || len(s.asked) != 1 {
		t.Fatalf("told %q, asked %+v, warned %q", lines, s.asked, s.warned)
	}
	for i, want := range [][]string{
		{"Notification ", `"notification_type":"permission_prompt"`, `"message":"Hermes needs your permission to use Bash"`, `"hook_event_name":"Notification"`},
		{"before ", `"subject":"rm -rf build"`, `"tool_name":"terminal"`}, {"after ", `"decision":"once"`, `"allowed":true`},
	} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("%q is missing in %s", part, lines[i])
			}
		}
	}
}

// TestAHookRefusesBeforeTheUserIsAsked: its deny refuses the call, and the user is not asked. It cannot allow one, which
// is said once, and what it does not decide the user does.
func TestAHookRefusesBeforeTheUserIsAsked(t *testing.T) {
	t.Parallel()
	const settings = `
hooks:
  PermissionRequest:
    - matcher: Bash
      hooks: [{type: command, if: "Bash(rm *)", timeout: 20, command: "cat >> asked.txt; BODY"}]
`
	decision := func(behavior string) string {
		return `echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"` + behavior + `\",\"message\":\"use the trash\"}}}'`
	}
	for name, tt := range map[string]struct {
		body   string
		answer hermes.Decision
		asked  int
		runs   bool
		reads  string
		warned int
	}{
		"deny":        {decision("deny"), hermes.AllowOnce, 0, false, "use the trash", 0},
		"status 2":    {"echo use the trash >&2; exit 2", hermes.AllowOnce, 0, false, "use the trash", 0},
		"allow":       {decision("allow"), hermes.Deny, 2, false, "the user refused", 1},
		"nothing":     {"true", hermes.AllowOnce, 2, true, "", 0},
		"unknown":     {decision("perhaps"), hermes.AllowOnce, 2, true, "", 1},
		"a failure":   {"exit 1", hermes.AllowOnce, 2, true, "", 1},
		"unattended":  {decision("allow"), "", 0, false, "no user to ask", 0},
		"not a fault": {`echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"ask\"}}'`, hermes.AllowOnce, 2, true, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := hooked(t, tt.answer, strings.Replace(settings, "BODY", tt.body, 1))
			s.write("build/x", "x")
			s.write("out/x", "x")
			s.say(`CALL terminal {"command":"rm -rf build"}`, `CALL terminal {"command":"rm -rf out"}`, `CALL terminal {"command":"true"}`)
			_, err := os.Stat(filepath.Join(s.dir, "build"))
			if (err != nil) != tt.runs || len(s.asked) != tt.asked || !strings.Contains(s.model.results(), tt.reads) || len(s.warned) != tt.warned {
				t.Errorf("ran: %v, asked %+v, warned %q, read %s", err != nil, s.asked, s.warned, s.model.results())
			}
			b, _ := os.ReadFile(filepath.Join(s.dir, "asked.txt"))
			if n := strings.Count(string(b), `"tool_name":"Bash"`); (n == 2) != (tt.answer != "") || n > 0 && !strings.Contains(string(b), `"hook_event_name":"PermissionRequest"`) {
				t.Errorf("the hook read %s", b)
			}
		})
	}
}

// arrival is a tool during which a user comes.
type arrival struct{ come func() }

func (arrival) Name() string                     { return "arrival" }
func (arrival) Available(context.Context) string { return "" }
func (a arrival) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "arrive", Description: "Wait for a user.", Trusted: true},
		func(context.Context, *hermes.Call, struct{}) (hermes.Result, error) {
			a.come()
			return hermes.Result{Text: "a user is there"}, nil
		})}, nil
}

// TestAHookRefusesBeforeAUserIsAskedWhoComesDuringTheTurn.
func TestAHookRefusesBeforeAUserIsAskedWhoComesDuringTheTurn(t *testing.T) {
	t.Parallel()
	s := hooked(t, "", `
hooks:
  PermissionRequest:
    - hooks: [{type: command, fail_closed: true, command: "echo use the trash >&2; exit 2"}]
`)
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	s.options = func(o *app.Options) {
		o.Extra = append(o.Extra, arrival{func() {
			_, events, err := s.live.Attach(ctx, hermes.From{Client: "late", Attends: true}, protocol.After{})
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				for range events {
				}
			}()
		}})
	}
	s.enter()
	s.answer = hermes.AllowOnce
	s.write("build/x", "x")
	s.say(`CALL arrive {}`, `CALL terminal {"command":"rm -rf build"}`)
	if _, err := os.Stat(filepath.Join(s.dir, "build")); err != nil || len(s.asked) > 0 || !strings.Contains(s.model.results(), "use the trash") {
		t.Errorf("%v, asked %+v, read %s", err, s.asked, s.model.results())
	}
}

// TestTheUserWaitsForAHookNoLongerThanItsTime, and a guard that takes longer refuses.
func TestTheUserWaitsForAHookNoLongerThanItsTime(t *testing.T) {
	t.Parallel()
	for _, guard := range []bool{false, true} {
		s := hooked(t, hermes.AllowOnce, fmt.Sprintf(`
hooks:
  PermissionRequest:
    - hooks: [{type: command, timeout: 0.2, fail_closed: %t, command: "sleep 1000; echo '{\"decision\":\"block\"}'"}]
`, guard))
		s.write("build/x", "x")
		s.say(`CALL terminal {"command":"rm -rf build"}`)
		_, err := os.Stat(filepath.Join(s.dir, "build"))
		if (err != nil) == guard || (len(s.asked) == 0) != guard {
			t.Errorf("guard %v: ran %v, asked %+v, read %s", guard, err != nil, s.asked, s.model.results())
		}
	}
}

// TestAHookIsToldThatTheUserIsWaitedFor after a turn; see also TestThatASessionWaitsIsToldOnceEachTime.
func TestAHookIsToldThatTheUserIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, `
hooks_idle_after_seconds: 0.02
hooks:
  Notification:
    - matcher: idle_prompt
      hooks: [{type: command, command: "cat >> told.txt; echo >> told.txt"}]
    - matcher: permission_prompt
      hooks: [{type: command, command: "echo permission >> told.txt"}]
`)
	told := func() int {
		b, _ := os.ReadFile(filepath.Join(s.dir, "told.txt"))
		if n := strings.Count(string(b), `"notification_type":"idle_prompt"`); n != strings.Count(string(b), "Hermes is waiting for your input") || strings.Contains(string(b), "permission\n") {
			t.Fatalf("told %s", b)
		}
		return strings.Count(string(b), `"hook_event_name":"Notification"`)
	}
	s.say(`CALL errand {"goal":"say something"}`)
	eventually(t, 30*time.Second, func() error {
		if told() < 1 {
			return errors.New("it was not told")
		}
		return nil
	})
	s.quit()
	if got := told(); got != 1 {
		t.Fatalf("told %d times; warned %q", got, s.warned)
	}
}

// TestAStopHookHasTheTurnGoOnOnce: it is called again at the end, and reads that it has had its wish.
func TestAStopHookHasTheTurnGoOnOnce(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, `
hooks:
  Stop:
    - hooks:
        - {type: command, command: "grep -o 'stop_hook_active.:[a-z]*' >> stops.txt; echo 'run the tests first' >&2; exit 2"}
`)
	s.say("hello")
	b, _ := os.ReadFile(filepath.Join(s.dir, "stops.txt"))
	if read := s.model.results(); strings.Count(read, "run the tests first") != 1 || string(b) != "stop_hook_active\":false\nstop_hook_active\":true\n" {
		t.Errorf("stops %q, read %q", b, read)
	}
}

// TestWithoutHooksASessionHasNothingMore: it gets the hooks of the program as they are.
func TestWithoutHooksASessionHasNothingMore(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.say("hello")
	cfg, err := s.app.Config()
	if err != nil {
		t.Fatal(err)
	}
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: s.dir}}
	tools, scripted := app.Scripted(s.app, cfg, run)
	again, _ := app.Scripted(s.app, cfg, run)
	if scripted != nil || tools != again {
		t.Error("a session without hooks has tools of its own")
	}
}

// TestAHookOfARequestObeysTheGuard of addresses: it reaches this machine only if the settings allow it.
func TestAHookOfARequestObeysTheGuard(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		if r.URL.Path == "/y" { // which is not followed
			http.Redirect(w, r, "/z", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, `{"decision":"block","reason":"the service said no"}`)
	}))
	t.Cleanup(server.Close)
	for _, private := range []bool{false, true} {
		came.Store(0)
		s := hooked(t, hermes.AllowOnce, fmt.Sprintf("security: {allow_private_urls: %t}\nhooks:\n  pre_tool_call: [{type: http, url: '%s/x'}]\n  outbound: [{name: a, url: '%s/y', events: [post_llm_call]}]\n", private, server.URL, server.URL))
		s.say(`CALL write_file {"path":"a.txt","content":"1"}`)
		_, err := os.Stat(filepath.Join(s.dir, "a.txt"))
		s.quit() // what is told is sent
		if got := came.Load(); (err != nil) != private || got != map[bool]int64{false: 0, true: 2}[private] {
			t.Errorf("private addresses %t: %d requests, the file: %v", private, got, err)
		}
	}
}
