package auth_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/credential"
)

// TestALoginIsTakenOverWithConsentOnly asks in the terminal, and needs --yes without
// one.
func TestALoginIsTakenOverWithConsentOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		typed, hidden string
		args          []string
		says, fails   string
		taken, key    bool
	}{
		"yes":                  {typed: "y\n", hidden: "-", args: []string{"anthropic", "--from", "claude-code"}, says: "Use the login of Claude Code? Hermes reads it", taken: true},
		"YES":                  {typed: "YES\n", hidden: "-", args: []string{"anthropic", "--from", "Claude-Code"}, says: "Added the login of Claude Code to anthropic: valid until 13:00; Claude Code renews it. List its models", taken: true},
		"no":                   {typed: "n\n", hidden: "-", args: []string{"anthropic", "--from", "claude-code"}, fails: "nothing was taken over"},
		"only Enter":           {typed: "\n", hidden: "-", args: []string{"anthropic", "--from", "claude-code"}, fails: "nothing was taken over"},
		"no answer":            {hidden: "-", args: []string{"anthropic", "--from", "claude-code"}, fails: "nothing was taken over"},
		"no terminal":          {typed: "y\n", args: []string{"anthropic", "--from", "claude-code"}, fails: "use --yes to take over the login of Claude Code"},
		"a script":             {args: []string{"anthropic", "--from", "claude-code", "--yes"}, says: "Added the login", taken: true},
		"another service":      {args: []string{"keys", "--from", "claude-code", "--yes"}, fails: "hermes auth add anthropic --from claude-code"},
		"unknown":              {args: []string{"anthropic", "--from", "cursor", "--yes"}, fails: "use one of claude-code, codex, gemini-cli, qwen-code"},
		"with a key":           {args: []string{"anthropic", "--from", "claude-code", "--yes", "--api-key", "k"}, fails: "leave out --api-key"},
		"yes to nothing":       {args: []string{"anthropic", "--yes"}, fails: "--from PROGRAM"},
		"offered and taken":    {typed: "y\n", hidden: "canary-typed", args: []string{"anthropic"}, says: "Use the login of Claude Code in ", taken: true},
		"offered and refused":  {typed: "n\n", hidden: "canary-typed", args: []string{"anthropic"}, says: "Key for anthropic (hidden)", key: true},
		"a pipe is not asked":  {typed: "canary-piped\n", args: []string{"anthropic"}, says: "Added", key: true},
		"a given key is taken": {typed: "y\n", hidden: "-", args: []string{"anthropic", "--api-key", "canary-given"}, says: "Added", key: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hidden = tt.hidden
			home := t.TempDir()
			file := filepath.Join(home, ".claude", ".credentials.json")
			text := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"canary-token","refreshToken":"canary-refresh","expiresAt":%d}}`, w.now.Add(time.Hour).UnixMilli())
			if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w.store = credential.Open(credential.Config{Path: w.path, UserHome: home, Now: func() time.Time { return w.now }})
			out, err := w.run(strings.NewReader(tt.typed), append([]string{"add"}, tt.args...)...)
			if !strings.Contains(out, tt.says) {
				t.Errorf("says %q, want %q", out, tt.says)
			}
			if tt.fails == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("fails with %v, want %q", err, tt.fails)
			}
			all, err := w.store.Pool("anthropic", nil).Entries()
			taken := len(all) == 1 && all[0].Program == "Claude Code"
			if err != nil || taken != tt.taken || (len(all) == 1 && !taken) != tt.key {
				t.Errorf("entries %+v, %v", all, err)
			}
			if theirs, err := os.ReadFile(file); err != nil || string(theirs) != text {
				t.Errorf("the program's file changed: %v", err)
			}
			for _, c := range []string{"list", "status"} {
				shown, err := w.run(nil, c, "anthropic")
				if err != nil || tt.taken && !strings.Contains(shown, "login of Claude Code") {
					t.Errorf("%s: %q, %v", c, shown, err)
				}
			}
			w.now = w.now.Add(2 * time.Hour)
			if shown, _ := w.run(nil, "status", "anthropic"); tt.taken && !strings.Contains(shown, "run `claude`") {
				t.Errorf("status of an expired login: %q", shown)
			}
			if strings.Contains(w.all.String(), "canary") {
				t.Errorf("shown: %s", w.all.String())
			}
		})
	}
}
