package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// runCommands lets a model run commands in a session without a user, and returns the
// folder in which they ran.
func runCommands(t *testing.T, approvals string, commands []string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "keep"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "keep", "file"), "kept")
	var calls []chatserver.Function
	for _, command := range commands {
		calls = append(calls, shellCall(command))
	}
	home := t.TempDir()
	setCalling(t, home, approvals, calls)
	runUnattended(t, home, dir)
	return dir
}

// TestCommandsDoNotHide: in an unattended run a command that needs approval does not
// run, however the line hides it, and ordinary work does.
func TestCommandsDoNotHide(t *testing.T) {
	t.Parallel()
	dir := runCommands(t, "denial_breaker_threshold: 0", []string{
		"x=a; " + strings.Repeat("x=$x$x; ", 40) + "rm -r keep",
		"x=rm; false && x=ls; $x -r keep", "f() { \"$@\"; }; f rm -r keep", "a=(rm -r keep); \"${a[@]}\"", "set -- rm -r keep; \"$@\"", "x=ls; while [ -d keep ]; do $x -r keep; x=rm; done",
		"echo 'rm -r keep' > s; sh ./s", "printf 'rm -r keep' | tee t >/dev/null; . ./t", "bash -eo pipefail -c 'rm -r keep'", "env -S'rm -r keep'", "nice rm -r keep", "timeout 5 sh -c 'rm -r keep'", ". <(echo rm -r keep)", "sh < <(echo rm -r keep)",
		"awk 'BEGIN { system(\"rm -r keep\") }'", "sed -n '1e rm -r keep' keep/file", "find keep -depth -exec rm -r {} +", "echo keep | xargs rm -r", "IFS=_; x=rm_-r_keep; $x", "[ 'x[$(rm -r keep)]' -eq 1 ]",
		"echo ordinary > ran", "bash -c 'echo ordinary > shell-ran'",
	})
	for _, name := range []string{"keep/file", "ran", "shell-ran"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestDenyRulesSeeWhatRuns: a deny rule holds with approvals off, however the line
// spells the command.
func TestDenyRulesSeeWhatRuns(t *testing.T) {
	t.Parallel()
	dir := runCommands(t, "mode: \"off\", denial_breaker_threshold: 0, deny: [\"touch denied*\"]", []string{
		"touch denied1", "x=denied2; touch $x", "f() { \"$@\"; }; f touch denied3", "echo 'touch denied4' | sh", "bash -eo pipefail -c 'touch denied5'", "alias x=ls; eval 'touch denied6'", "echo denied7 | xargs touch", "t''ouch \"denied\"8", "echo touch denied9 > s; sh s",
		"touch $(echo denied10)", "env A=1 nice touch denied11", "touch allowed",
	})
	found, err := filepath.Glob(filepath.Join(dir, "denied*"))
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v ran", err, found)
	}
	if _, err := os.Stat(filepath.Join(dir, "allowed")); err != nil {
		t.Error(err)
	}
}
