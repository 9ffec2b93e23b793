package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/cmd"
	settings "hermes/internal/config"
)

// TestKeptSettingsAreKnown has every setting that version 0.1.0 knew, with
// the value that it had in the kept home.
func TestKeptSettingsAreKnown(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	now := settingsOf("", values(t, p.must("config", "show", "--all", "--json"))[0])
	for key, want := range settingsOf("", values(t, expected(t, "config-all.json"))[0]) {
		if got, ok := now[key]; !ok && settings.Removed(key) || key == "checkpoints.enabled" { // it had no effect then, and is on since it has one
			continue
		} else if !ok || !cmp.Equal(want, got) {
			t.Errorf("%s was %v, now it is %v", key, want, got)
		}
	}
}

// TestKeptEntriesAreKnown has every key of the entries that a user names:
// services, aliases, side tasks.
func TestKeptEntriesAreKnown(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(expected(t, "entries.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	noProblems(t, p)
}

// TestKeptHomeHasNoProblems has the settings of the kept home. Version 0.1.0 reported none of
// those that have no effect yet.
func TestKeptHomeHasNoProblems(t *testing.T) {
	t.Parallel()
	noProblems(t, withKeptHome(t))
}

// noProblems has a home whose settings are all known and valid. Planned ones are listed.
func noProblems(t *testing.T, p *user) {
	t.Helper()
	for _, problem := range values(t, p.must("config", "check", "--json"))[0].([]any) {
		if served, _ := problem.(map[string]any)["served"].(string); !strings.HasPrefix(served, "it has no effect before ") {
			t.Errorf("not all settings are known: %v", problem)
		}
	}
}

// settingsOf flattens sections into keys with dots.
func settingsOf(key string, v any) map[string]any {
	section, ok := v.(map[string]any)
	if !ok || len(section) == 0 {
		return map[string]any{key: v}
	}
	all := map[string]any{}
	for name, one := range section {
		for k, v := range settingsOf(strings.TrimPrefix(key+"."+name, "."), one) {
			all[k] = v
		}
	}
	return all
}

// TestKeptCommandsAreKnown has every command and flag of version 0.1.0.
func TestKeptCommandsAreKnown(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(expected(t, "commands.txt")) {
		var path, flags []string
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "--") {
				flags = append(flags, word)
			} else {
				path = append(path, word)
			}
		}
		var out bytes.Buffer
		status := cmd.Main(cmd.Process{Args: append(path, "--help"), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Getenv: func(string) string { return "" }})
		words := strings.Fields(out.String())
		if status != 0 || !strings.Contains(out.String(), strings.Join(append([]string{"  hermes"}, path...), " ")) {
			t.Errorf("there is no hermes %s: status %d", strings.Join(path, " "), status)
			continue
		}
		for _, f := range flags {
			if !slices.ContainsFunc(words, func(w string) bool { return w == f || strings.HasPrefix(w, f+"[") }) {
				t.Errorf("hermes %s has no flag %s", strings.Join(path, " "), f)
			}
		}
	}
}
