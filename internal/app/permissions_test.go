package app_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/toolbox"
	"hermes/internal/trust"
)

// TestRulesHoldInEveryMode lets an obedient model try what the rules of the home deny or ask for, by
// commands and by file tools, with approvals off and without a user.
func TestRulesHoldInEveryMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"manual", "off"} {
		home, dir := t.TempDir(), t.TempDir()
		calls := []chatserver.Function{fileCall("keys/a"), fileCall("./x/../keys/b"), fileCall(filepath.Join(dir, "keys", "c")), fileCall("other/a")}
		for _, line := range []string{"touch denied1", "cd . && touch -a denied2", "sh -c 'touch denied3'", "touch asked", "touch here", "touch there", "touch allowed"} {
			calls = append(calls, shellCall(line))
		}
		writeFile(t, filepath.Join(home, "permissions.yaml"), `rules:
- {deny: "terminal: touch denied*", reason: never}
- {deny: "file.write: ./keys/**"}
- {ask: "terminal: touch asked*"}
- {deny: "terminal: touch here*", when: {unattended: true}}
- {deny: "terminal: touch there*", when: {platform: telegram}}
`)
		setCalling(t, home, "mode: \""+mode+"\", denial_breaker_threshold: 0", calls)
		runUnattended(t, home, dir)
		for name, want := range map[string]bool{"denied1": false, "denied2": false, "denied3": false, "asked": false, "here": false, "there": true, "allowed": true,
			"keys/a": false, "keys/b": false, "keys/c": false, "other/a": true} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
				t.Errorf("mode %s: %s is there: %v, want %v", mode, name, err == nil, want)
			}
		}
	}
}

// TestAChangedRuleHoldsInAnOpenSession: the file is edited between two turns.
func TestAChangedRuleHoldsInAnOpenSession(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	rules := filepath.Join(s.home, "permissions.yaml")
	s.say(`CALL write_file {"path":"one","content":"1"}`)
	writeFile(t, rules, "rules:\n- deny: \"file.write: ./two\"\n")
	s.say(`CALL write_file {"path":"two","content":"2"}`, `CALL patch {"mode":"patch","patch":"*** Begin Patch\n*** Add File: two\n+2\n*** End Patch"}`)
	writeFile(t, rules, "rules:\n- denny: \"file.write: ./two\"\n")
	s.say(`CALL write_file {"path":"three","content":"3"}`)
	writeFile(t, rules, "rules: []\n")
	s.say(`CALL write_file {"path":"four","content":"4"}`)
	for name, want := range map[string]bool{"one": true, "two": false, "three": false, "four": true} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

// TestAProjectAllowsNothingBeforeItIsTrusted, and denies at once; its rules begin in its folder. What
// was trusted is not when it changes.
func TestAProjectAllowsNothingBeforeItIsTrusted(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	sub := filepath.Join(dir, "sub")
	for _, d := range []string{".git", ".hermes", "sub/.hermes"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const allows = "rules:\n- allow: 'terminal: rm -rf build'\n- deny: 'file.write: ./keys/**'\n"
	writeFile(t, filepath.Join(dir, ".hermes", "permissions.yaml"), allows)
	writeFile(t, filepath.Join(sub, ".hermes", "permissions.yaml"), "rules:\n- ask: 'terminal: make'\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	judged := func(tool, subject string) toolbox.Outcome {
		t.Helper()
		v, err := a.Verdict(t.Context(), app.SampleCall{
			Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: sub}}, Tool: tool, Subject: subject, Attended: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return v.Outcome
	}
	check := func(when string, want toolbox.Outcome) {
		t.Helper()
		if got := judged("terminal", "rm -rf build"); got != want {
			t.Errorf("%s: the project's allow gives %s, want %s", when, got, want)
		}
		if got := judged("write_file", "../keys/a"); got != toolbox.Forbidden {
			t.Errorf("%s: the project's deny gives %s", when, got)
		}
		if got := judged("write_file", "keys/a"); got != toolbox.Runs {
			t.Errorf("%s: another folder's file gives %s", when, got)
		}
		if got := judged("terminal", "make"); got != toolbox.Asks {
			t.Errorf("%s: the project's ask gives %s", when, got)
		}
	}
	decide := func(s trust.State) {
		t.Helper()
		p, _, err := a.Project(sub)
		if err != nil {
			t.Fatal(err)
		}
		store, err := a.Trust()
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Set(t.Context(), p, s, "user"); err != nil {
			t.Fatal(err)
		}
	}
	check("unknown", toolbox.Asks)
	decide(trust.Declined)
	check("declined", toolbox.Asks)
	decide(trust.Trusted)
	check("trusted", toolbox.Runs)
	writeFile(t, filepath.Join(sub, ".hermes", "permissions.yaml"), "rules:\n- ask: 'terminal: make'\n- allow: terminal\n")
	check("changed", toolbox.Asks)
	if err := os.Remove(filepath.Join(dir, ".hermes", "permissions.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hosts", filepath.Join(dir, ".hermes", "permissions.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := judged("todo", ""); got != toolbox.Forbidden {
		t.Errorf("rules that cannot be read: %s", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".hermes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, ".hermes")); err != nil {
		t.Fatal(err)
	}
	if got := judged("todo", ""); got != toolbox.Forbidden {
		t.Errorf("a folder that may have rules and is a link: %s", got)
	}
	if err := os.Remove(filepath.Join(dir, ".hermes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hosts", filepath.Join(dir, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	if got := judged("todo", ""); got != toolbox.Runs {
		t.Errorf("servers that cannot be read: %s", got)
	}
}

// TestAFolderThatWasMovedStopsNothing: its session works in the current folder instead.
func TestAFolderThatWasMovedStopsNothing(t *testing.T) {
	t.Parallel()
	a := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	v, err := a.Verdict(t.Context(), app.SampleCall{
		Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: filepath.Join(t.TempDir(), "gone")}}, Tool: "todo",
	})
	if err != nil || v.Outcome != toolbox.Runs {
		t.Errorf("%+v %v", v, err)
	}
}

// TestADenyRuleForReadingKeepsTheText: neither a search above nor a patch shows it, and other searches run unasked.
func TestADenyRuleForReadingKeepsTheText(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- deny: \"read_file: ./private\"\n- deny: \"file.read: **/*.secret\"\n")
	s.write("private/a.txt", "topsecret one\n")
	s.write("b.secret", "topsecret two\n")
	s.write("c.txt", "topsecret? no, open three\n")
	s.say(`CALL read_file {"path":"private/a.txt"}`, `CALL search_files {"path":"private","pattern":"."}`, `CALL search_files {"path":"private/a.txt","pattern":"."}`, `CALL search_files {"pattern":"topsecret"}`,
		`CALL search_files {"target":"files","pattern":"*"}`, `CALL patch {"mode":"replace","path":"private/a.txt","old_string":"topsecret onx","new_string":"x"}`, `CALL read_file {"path":"b.secret"}`)
	text := s.model.results()
	for _, hidden := range []string{"topsecret one", "topsecret two"} {
		if strings.Contains(text, hidden) {
			t.Errorf("the model reads %q: %s", hidden, text)
		}
	}
	if !strings.Contains(text, "open three") || !strings.Contains(text, `"files":["c.txt","notes.md"]`) || strings.Count(text, "2 files that may not be read were not searched") != 2 || len(s.asked) != 0 {
		t.Errorf("asked %+v: %s", s.asked, text)
	}
}

// TestLinkedRulesAreNotWritten: the rules of a user who keeps them in the folder of the session are as protected there,
// from file tools and from commands.
func TestLinkedRulesAreNotWritten(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	const rules = "rules:\n- deny: \"terminal: touch denied*\"\n"
	s.write("dot/permissions.yaml", rules)
	kept := filepath.Join(s.dir, "dot", "permissions.yaml")
	if err := os.Symlink(kept, filepath.Join(s.home, "permissions.yaml")); err != nil {
		t.Skip(err)
	}
	s.say(`CALL read_file {"path":"dot/permissions.yaml"}`, `CALL write_file {"path":"dot/permissions.yaml","content":"rules: []\n"}`,
		`CALL terminal {"command":"echo 'rules: []' > dot/permissions.yaml"}`, `CALL terminal {"command":"mv dot/permissions.yaml dot/p"}`, `CALL terminal {"command":"touch denied"}`)
	if text, err := os.ReadFile(kept); err != nil || string(text) != rules+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "denied")); err == nil {
		t.Error("what a rule denies ran")
	}
	if len(s.asked) != 2 {
		t.Errorf("asked %+v", s.asked)
	}
}

// TestAKnownSecretIsNotReplacedByItsMask, also one that no shape tells.
func TestAKnownSecretIsNotReplacedByItsMask(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	const secret = "Kq7mP2xW9vR4tY8n"
	s.config += "providers: {other: {base_url: 'https://other.example/v1', api_key: " + secret + "}}\n"
	s.write("c.txt", "first "+secret+" last")
	s.say(`CALL read_file {"path":"c.txt"}`)
	shown := regexp.MustCompile(`first (\S+) last`).FindStringSubmatch(s.model.results())
	if shown == nil || strings.Contains(shown[1], secret) {
		t.Fatalf("the model reads %q", shown)
	}
	s.say(`CALL write_file {"path":"c.txt","content":"first ` + shown[1] + ` last\nmore\n"}`)
	if text, err := os.ReadFile(filepath.Join(s.dir, "c.txt")); err != nil || string(text) != "first "+secret+" last\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestAPlaceholderIsAnOrdinaryWord: the key that a local service does not look at is not masked, although it is used.
func TestAPlaceholderIsAnOrdinaryWord(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config += "providers: {here: {base_url: '" + s.url + "', api_key: ollama}, there: {base_url: 'https://other.example/v1', api_key: swordfish}}\n"
	s.write("c.txt", "run ollama serve, then swordfish")
	s.enter()
	if err := s.live.Do(t.Context(), hermes.From{}, hermes.SetModel{Ref: "here:m"}); err != nil {
		t.Fatal(err)
	}
	s.say(`CALL read_file {"path":"c.txt"}`)
	if text := s.model.results(); !strings.Contains(text, "run ollama serve") || strings.Contains(text, "then swordfish") {
		t.Error(text)
	}
}

// TestAJudgeSaysWhatNewSessionsWould: calls that were judged before change nothing.
func TestAJudgeSaysWhatNewSessionsWould(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "permissions.yaml"), "rules:\n- deny: 'terminal: git push *'\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	sample := app.SampleCall{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}, Rights: hermes.Rights{Mode: hermes.ModeYolo}}, Attended: true}
	j, err := a.Judge(t.Context(), sample)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"ls", "git push origin x", "rm -rf /", "ls", "git push origin x"}
	for _, line := range append(lines, lines...) {
		sample.Tool, sample.Subject = "terminal", line
		want, err := a.Verdict(t.Context(), sample)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j.Verdict(t.Context(), "terminal", line, nil); err != nil || got.Outcome != want.Outcome || got.Reason != want.Reason {
			t.Errorf("%s: %+v, %v; want %+v", line, got, err, want)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
