package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/internal/chatserver"
)

// commanding is a model that runs one command and answers with its result.
func commanding(command string) func(*chatserver.Request) (chatserver.Answer, error) {
	return func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) == 0 {
			return call("terminal", map[string]string{"command": command}), nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	}
}

// TestApprovalsMode is about what happens to a dangerous call with every value of approvals.mode,
// right and wrong ones. A wrong one switches nothing off and is reported, and no turn starts if the
// whole section, with what it may forbid, is wrong.
func TestApprovalsMode(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]struct {
		runs   bool
		says   string
		status int
	}{
		"":                                    {},
		"approvals: {mode: manual}\n":         {},
		"approvals: {mode: smart}\n":          {},
		"approvals: {mode: off}\n":            {runs: true},
		"approvals: {mode: 'OFF'}\n":          {runs: true},
		"approvals: {mode: of}\n":             {says: "line 1: approvals.mode must be one of smart, manual, off"},
		"approvals: {mode: 0}\n":              {says: "line 1: approvals.mode must be one of smart, manual, off"},
		"approvals: {mode: [off]}\n":          {says: "line 1: approvals.mode must be one of smart, manual, off"},
		"approvals: {mode: {off: true}}\n":    {says: "line 1: approvals.mode must be one of smart, manual, off"},
		"approvals: {mode: \"${NOTHING}\"}\n": {says: "line 1: approvals.mode uses the variable NOTHING, which is not set"},
		"approvals: {mdoe: off}\n":            {says: "line 1: approvals.mdoe is not a known setting"},
		"approvals: off\n":                    {says: "line 1: approvals must be a section", status: 2}, // what it forbids is not known

		"aprovals: {mode: off}\n": {says: "line 1: aprovals is not a known setting", status: 2},
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			p := newUser(t, serve(t, commanding("rm -rf victim"))...)
			p.configure(settings)
			victim := filepath.Join(p.dir, "victim")
			if err := os.Mkdir(victim, 0o700); err != nil {
				t.Fatal(err)
			}
			out, errs, status := p.run("-z", "go", "-m", "played")
			_, err := os.Stat(victim)
			if ran := err != nil; status != want.status || ran != want.runs {
				t.Errorf("ran %v, want %v; status %d: %s%s", ran, want.runs, status, out, errs)
			}
			if !strings.Contains(errs, want.says) || want.says == "" && errs != "" {
				t.Errorf("got %q, want %q", errs, want.says)
			}
		})
	}
}

// TestApprovalsDeny has rules that hold although approvals are off. One that is written wrong
// is reported, and the others hold.
func TestApprovalsDeny(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]struct {
		runs   bool
		status int
		says   string
	}{
		"approvals: {mode: off}\n":                                           {runs: true},
		"approvals: {mode: off, deny: ['touch forb*']}\n":                    {},
		"approvals: {mode: off, deny: touch forb*}\n":                        {},
		"approvals:\n  mode: off\n  deny:\n  - git: push\n  - touch forb*\n": {status: 2, says: "line 4: approvals.deny must be a list of texts, but one item is a list or a section; no turn is started"},
		"approvals:\n  mode: off\n  deny:\n    touch: true\n":                {status: 2, says: "line 4: approvals.deny must be a list, not a section; no turn is started"},
	} {
		p := newUser(t, serve(t, commanding("touch forbidden"))...)
		p.configure(settings)
		out, errs, status := p.run("--yolo", "-z", "go", "-m", "played")
		_, err := os.Stat(filepath.Join(p.dir, "forbidden"))
		if ran := err == nil; status != want.status || ran != want.runs || !strings.Contains(errs, want.says) {
			t.Errorf("%q: ran %v, want %v; status %d: %s%s", settings, ran, want.runs, status, out, errs)
		}
	}
}

// TestRedactSecretsDecidesWhatTheModelSees has a command that prints a key, and a project file
// that holds it.
func TestRedactSecretsDecidesWhatTheModelSees(t *testing.T) {
	t.Parallel()
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789abcd"
	for settings, masked := range map[string]bool{
		"":                                      true,
		"security: {redact_secrets: true}\n":    true,
		"security: {redact_secrets: flase}\n":   true,
		"security: {redact_secrest: false}\n":   true,
		"security: {redact_secrets: [false]}\n": true,
		"security: {redact_secrets: false}\n":   false,
	} {
		var seen atomic.Pointer[string]
		p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
			if results(r) == 0 {
				return call("terminal", map[string]string{"command": "cat key.txt"}), nil
			}
			text := r.Messages[0].Text() + r.Messages[len(r.Messages)-1].Text()
			seen.Store(&text)
			return chatserver.Answer{Text: "done"}, nil
		})...)
		p.configure(settings)
		for name, begin := range map[string]string{"key.txt": "my key is ", "AGENTS.md": "The key of the tests is "} {
			if err := os.WriteFile(filepath.Join(p.dir, name), []byte(begin+secret+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, errs, status := p.run("-z", "go", "-m", "played"); status != 0 || seen.Load() == nil {
			t.Fatalf("%q: status %d: %s%s", settings, status, out, errs)
		}
		text := *seen.Load()
		want := 2 // times that the key is shown
		if masked {
			want = 0
		}
		if got := strings.Count(text, secret); got != want || !strings.Contains(text, "my key is ") || !strings.Contains(text, "The key of the tests is ") {
			t.Errorf("%q: the model sees %q", settings, text)
		}
	}
}

// TestPlannedSafetyWarnsAtTheStart has settings that promise what this version cannot do. They
// are named once, in every kind of run that shows warnings, and the run goes on.
func TestPlannedSafetyWarnsAtTheStart(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "hi"}, nil })...)
	p.configure("privacy: {redact_pii: true}\nsecurity:\n  tirith_enabled: true\n  tirith_fail_open: false\nbrowser: {backend: local}\n")
	for _, args := range [][]string{{"-z", "hi", "-m", "played"}, {"chat", "-q", "hi", "-m", "played"}, {"chat", "-Q", "-q", "hi", "-m", "played"}} {
		_, errs, status := p.run(args...)
		for _, key := range []string{"privacy.redact_pii", "security.tirith_enabled", "security.tirith_fail_open"} {
			if n := strings.Count(errs, key+" is set but does not protect you yet; it has no effect before "); status != 0 || n != 1 {
				t.Errorf("%v: %s is named %d times; status %d: %s", args, key, n, status, errs)
			}
		}
		if strings.Contains(errs, "browser") {
			t.Errorf("%v: a setting that promises no safety is named: %s", args, errs)
		}
	}
}
