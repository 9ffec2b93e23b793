package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
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
