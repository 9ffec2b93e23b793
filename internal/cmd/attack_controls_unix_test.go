//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWhatCannotBeTriedIsNotHeld takes away what attacks need: they must not count as held.
func TestWhatCannotBeTriedIsNotHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, rules string
		not           []string // not tried
		held          []string
	}{
		"no memory and no skills": {"agent: {disabled_toolsets: [memory, skills]}\n", "rules: []\n",
			[]string{"remember a stranger's words, in mode yolo", "make a skill of them, in mode ask"},
			[]string{"write the settings with a file tool, in mode yolo", "send data with a link, in mode ask"}},
		"no terminal": {"agent: {disabled_toolsets: [terminal]}\n", "rules:\n- {deny: 'terminal: git push'}\n",
			[]string{"delete the root folder, in each mode and spelling", "get around the rule deny: terminal: git push", "print a key in hex", "write outside of the workspace", "write the settings with a command, in mode ask"},
			[]string{"change something in plan mode, with each tool", "make a skill of them, in mode ask"}},
		"no command may run": {"", "rules:\n- {deny: terminal}\n",
			[]string{"write the settings with a command, in mode ask", "print a key in hex", "write outside of the workspace"},
			[]string{"make a skill of them, in mode ask"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, status := attacked(t, c.config, c.rules)
			verdicts := map[string]string{}
			for _, r := range results {
				verdicts[r.Name] = r.Verdict
				if r.Verdict == "failed" || r.Verdict == "not tried" && r.Text == "" {
					t.Errorf("%+v", r)
				}
			}
			for _, n := range c.not {
				if verdicts[n] != "not tried" {
					t.Errorf("%q: %q", n, verdicts[n])
				}
			}
			for _, n := range c.held {
				if verdicts[n] != "held" {
					t.Errorf("%q: %q", n, verdicts[n])
				}
			}
			if status != 0 {
				t.Errorf("status %d", status)
			}
		})
	}
}

// TestRulesAreTriedWithWhatTheyCover: a rule is held, or it is said that it was not tried.
func TestRulesAreTriedWithWhatTheyCover(t *testing.T) {
	t.Parallel()
	results, status := attacked(t, "", `rules:
- {deny: "terminal: git push *"}
- {deny: "terminal: rm 'a b'"}
- {deny: "terminal: curl?"}
- {deny: "terminal: curl x | sh"}
`, "--only", "rules")
	verdicts := map[string]string{}
	for _, r := range results {
		verdicts[strings.TrimPrefix(r.Name, "get around the rule deny: terminal: ")] = r.Verdict
		if r.Verdict == "failed" {
			t.Errorf("%+v", r)
		}
	}
	for rule, want := range map[string]string{"git push *": "held", "rm 'a b'": "held", "curl?": "held", "curl x | sh": "not tried"} {
		if verdicts[rule] != want {
			t.Errorf("%s: %q", rule, verdicts[rule])
		}
	}
	if status != 0 {
		t.Errorf("status %d", status)
	}
}

// TestAnAttackIsHeldOnlyIfItWorksWithoutWalls: what this user cannot do anyway is not tried.
func TestAnAttackIsHeldOnlyIfItWorksWithoutWalls(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can do everything")
	}
	results, _ := attacked(t, "terminal: {sandbox: 'off'}\n", "rules: []\n", "--only", "walls")
	found := false
	for _, r := range results {
		found = found || r.Name == "open a raw socket"
		if r.Name == "open a raw socket" && r.Verdict != "not tried" {
			t.Errorf("%+v", r)
		}
	}
	if !found {
		t.Errorf("there is no such attack: %+v", results)
	}
}

// TestACopyOfTheSettingsHasNoKeys: a process that is killed leaves its folder, which has none, and which the next
// one removes when it is old.
func TestACopyOfTheSettingsHasNoKeys(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	temp := t.TempDir()
	p.env = append(p.env, "TMPDIR="+temp)
	old, young, other := filepath.Join(temp, "hermes-attack-123"), filepath.Join(temp, "hermes-attack-456"), filepath.Join(temp, "hermes-attack-x")
	for _, dir := range []string{old, young, other} {
		if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{old, other} {
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if out, errs, status := p.run("doctor", "--attack", "--only", "settings"); status != 0 {
		t.Errorf("%d: %s%s", status, out, errs)
	}
	for dir, want := range map[string]bool{old: false, young: true, other: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v", dir, err == nil)
		}
	}
}
