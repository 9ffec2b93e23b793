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
