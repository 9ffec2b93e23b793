package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestNothingThatIsShownAgainHasAKey lets the user and the model write keys, one of a
// known form, one that only .env has, and one of the environment, and looks at
// everything that prints a conversation again.
func TestNothingThatIsShownAgainHasAKey(t *testing.T) {
	t.Parallel()
	const (
		formed  = "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"
		stored  = "violet-anchor-canary"
		outside = "123456:messenger-canary-token"
	)
	p := newUser(t, append(serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) == 0 {
			return call("terminal", map[string]string{"command": "printf '%s' 'X-Api-Key: " + formed + "' # " + stored + " " + outside}), nil
		}
		return chatserver.Answer{Text: "zebra " + stored + " " + outside + " " + formed}, nil
	}), "TELEGRAM_BOT_TOKEN="+outside)...)
	p.configure("approvals: {mode: off}\n")
	if err := os.WriteFile(filepath.Join(p.home, ".env"), []byte("SHOP_TOKEN="+stored+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := p.run("-z", "zebra with "+formed+" and "+stored+" and "+outside, "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	for _, line := range []string{
		"sessions export -", "sessions export - --format md", "sessions export - --format html", "sessions export - --format trajectory",
		"sessions show latest", "sessions show latest --full", "sessions show latest --json", "sessions search zebra --context 3", "sessions search zebra --json",
		"sessions list --all", "sessions list --all --json", "logs", "logs --json", "insights", "journey",
	} {
		out, errs, status := p.run(strings.Fields(line)...)
		if status != 0 {
			t.Errorf("%s: status %d: %s%s", line, status, out, errs)
		}
		for _, secret := range []string{formed, stored, outside, "messenger-canary"} {
			if strings.Contains(out+errs, secret) {
				t.Errorf("%s shows %q:\n%s", line, secret, out)
			}
		}
	}
	if out, _, _ := p.run("sessions", "export", "-", "--redact=false"); !strings.Contains(out, formed) {
		t.Errorf("--redact=false masks:\n%s", out)
	}
}
