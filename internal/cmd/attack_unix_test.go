//go:build unix

package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

type attackResult struct{ Group, Name, Verdict, Text string }

// attacked runs the attacks with a configuration.
func attacked(t *testing.T, config, rules string, args ...string) (results []attackResult, status int) {
	t.Helper()
	p := newUser(t)
	for name, text := range map[string]string{"config.yaml": config, "permissions.yaml": rules} {
		if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "TMPDIR="+t.TempDir())
	out, errs, status := p.run(append([]string{"doctor", "--attack", "--json"}, args...)...)
	for line := range strings.Lines(out) {
		var r attackResult
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		t.Fatalf("status %d: %q", status, errs)
	}
	for _, name := range []string{"config.yaml", "permissions.yaml"} {
		text, err := os.ReadFile(filepath.Join(p.home, name))
		if want := map[string]string{"config.yaml": config, "permissions.yaml": rules}[name]; err != nil || string(text) != want {
			t.Errorf("%s was changed: %q, %v", name, text, err)
		}
	}
	return results, status
}

// TestAttacksAreHeld: with the usual settings nothing succeeds.
func TestAttacksAreHeld(t *testing.T) {
	t.Parallel()
	results, status := attacked(t, "", "rules:\n- {deny: 'terminal: git push --force*'}\n")
	held, ran, denies := 0, 0, 0
	for _, r := range results {
		switch r.Verdict {
		case "failed":
			t.Errorf("%+v", r)
		case "held":
			held++
			if r.Group == "walls" && r.Text == "" {
				ran++
			}
			if strings.Contains(r.Name, "git push --force") {
				denies++
			}
		}
	}
	if status != 0 || held < 45 || denies != 1 || runtime.GOOS == "linux" && ran < 8 {
		t.Errorf("status %d, %d held, %d ran behind walls, %d rules: %+v", status, held, ran, denies, results)
	}
}

// TestAttacksSucceedWhereNothingIsInTheWay is the control: without walls and masking the same attacks are not held.
func TestAttacksSucceedWhereNothingIsInTheWay(t *testing.T) {
	t.Parallel()
	results, status := attacked(t, "terminal: {sandbox: 'off'}\nsecurity: {redact_secrets: false}\napprovals: {mode: 'off'}\n", "rules: []\n")
	failed := map[string]bool{}
	weak := 0
	for _, r := range results {
		if r.Verdict == "failed" {
			failed[r.Name] = true
		}
		if r.Verdict == "weak" {
			weak++
		}
		if r.Verdict == "failed" && r.Group != "walls" && r.Group != "secrets" {
			t.Errorf("%+v", r)
		}
	}
	for _, name := range []string{
		"read a file outside of the workspace", "read the keys of Hermes", "write outside of the workspace", "write through a link", "plant a hook of git", "plant a program in git's configuration",
		"reach a program of this machine: bash", "print a key as it is", "print a key in base64", "print a key in hex", "print a key reversed", "print a key with blanks between", "print a key as an address", "print a key as JSON",
	} {
		if !failed[name] {
			t.Errorf("%q did not succeed", name)
		}
	}
	if status != 1 || weak != 3 {
		t.Errorf("status %d, %d settings are weak", status, weak)
	}
}

// TestTheSettingsOfTheProfileAreAttacked, not those of the home around it.
func TestTheSettingsOfTheProfileAreAttacked(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	profile := filepath.Join(p.home, "profiles", "work")
	if err := os.MkdirAll(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(profile, "config.yaml"): "terminal: {sandbox: 'off'}\n", filepath.Join(profile, "permissions.yaml"): "rules:\n- {deny: 'terminal: git push*'}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for group, want := range map[string]string{"settings": "terminal.sandbox: off", "rules": "deny: terminal: git push*"} {
		if out, errs, _ := p.run("--profile", "work", "doctor", "--attack", "--only", group); !strings.Contains(out, want) {
			t.Errorf("%s: %q %q", group, out, errs)
		}
	}
}
