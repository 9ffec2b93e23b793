package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// refusals has a model delete four folders, one after another, and returns the
// result that it got for the last.
func refusals(t *testing.T, settings string) string {
	t.Helper()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if n := results(r); n < 4 {
			a := call("terminal", map[string]string{"command": fmt.Sprintf("rm -rf victim%d", n)})
			a.Calls[0].ID = fmt.Sprintf("call_%d", n)
			return a, nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	})...)
	p.configure("tool_loop_guardrails: {warnings_enabled: false, non_interactive_hard_stop_enabled: false}\n" + settings)
	out, errs, status := p.run("-z", "go", "-m", "played")
	if status != 0 || !strings.Contains(out, "BLOCKED") {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	return out
}

// configure writes config.yaml.
func (p *user) configure(text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func TestDenialBreaker(t *testing.T) {
	t.Parallel()
	const stops = "stop calling tools now"
	for threshold, want := range map[string]bool{"3": true, "5": false, "0": false, "off": false, "-1": true} {
		got := refusals(t, "approvals: {denial_breaker_threshold: "+threshold+"}\n")
		if strings.Contains(got, stops) != want {
			t.Errorf("threshold %s: the model is told to stop: %v, want %v", threshold, !want, want)
		}
	}
	if !strings.Contains(refusals(t, ""), stops) {
		t.Error("the default is off")
	}
}

// TestSingleQueryMode is about what happens to a dangerous call if the question came
// on the command line and there is no one to ask.
func TestSingleQueryMode(t *testing.T) {
	t.Parallel()
	var command string
	for name, tt := range map[string]struct {
		settings, command string
		runs              bool
	}{
		"the default":            {"", "rm -rf victim", false},
		"deny":                   {"approvals: {single_query_mode: deny}\n", "rm -rf victim", false},
		"approve":                {"approvals: {single_query_mode: approve}\n", "rm -rf victim", true},
		"an unknown value":       {"approvals: {single_query_mode: sure}\n", "rm -rf victim", false},
		"another setting":        {"approvals: {unattended_mode: approve, cron_mode: approve}\n", "rm -rf victim", false},
		"a deny rule":            {"approvals: {single_query_mode: approve, deny: ['rm -rf vic*']}\n", "rm -rf victim", false},
		"what is never allowed":  {"approvals: {single_query_mode: approve}\n", "rm -rf victim; rm -rf /", false},
		"an approval in writing": {"approvals: {single_query_mode: approve, mode: manual}\n", "rm -rf victim", true},
	} {
		command = tt.command
		for _, piped := range []bool{false, true} {
			p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
				if results(r) == 0 {
					return call("terminal", map[string]string{"command": command}), nil
				}
				return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
			})...)
			p.configure(tt.settings)
			victim := filepath.Join(p.dir, "victim")
			if err := os.Mkdir(victim, 0o700); err != nil {
				t.Fatal(err)
			}
			args, stdin := []string{"-z", "go", "-m", "played"}, ""
			if piped {
				args, stdin = []string{"chat", "-m", "played"}, "go"
			}
			out, errs, status := p.runWith(stdin, args...)
			_, err := os.Stat(victim)
			if ran := err != nil; status != 0 || ran != tt.runs || strings.Contains(out+errs, "BLOCKED") == tt.runs && !piped {
				t.Errorf("%s (piped: %v): ran %v, want %v; status %d: %s%s", name, piped, ran, tt.runs, status, out, errs)
			}
			if piped && tt.runs && !strings.Contains(out+errs, "without asking") {
				t.Errorf("%s: not told that it was approved without asking:\n%s%s", name, out, errs)
			}
		}
	}
}
