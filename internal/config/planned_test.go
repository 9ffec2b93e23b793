package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/config"
)

// TestPlannedSettingsInUseAreReported has a planned key of every kind: in a section, in a planned
// section, in a map, of a side task, of a variable.
func TestPlannedSettingsInUseAreReported(t *testing.T) {
	t.Parallel()
	h := setup(t, `
group_sessions_per_user: false
terminal: {local_persistent: true, timeout: 5}
tts: {provider: edge}
platforms:
  telegram: {enabled: true, colour: red}
auxiliary:
  vision: {model: one}
  compression: {model: two}
`, "TERMINAL_HOME_MODE=real\n")
	want := []string{
		"config.yaml, line 2: group_sessions_per_user is set; it has no effect before the gateway.",
		"config.yaml, line 3: terminal.local_persistent is set; it has no effect before a shell that lives on between commands.",
		"config.yaml, line 4: tts.provider is set; it has no effect before speech.",
		"config.yaml, line 6: platforms.telegram.enabled is set; it has no effect before the gateway.",
		"config.yaml, line 6: platforms.telegram.colour is set; it has no effect before the gateway.",
		"config.yaml, line 8: auxiliary.vision.model is set; it has no effect before the vision tools.",
		"terminal.home_mode is set by the variable TERMINAL_HOME_MODE; it has no effect before a separate home for commands.",
	}
	c := load(h)
	if d := cmp.Diff(want, texts(c.Check())); d != "" {
		t.Error(d)
	}
	if got := c.Warnings(); len(got) > 0 {
		t.Errorf("shown at every start: %q", texts(got))
	}
}

// TestPlannedSafetyIsAWarning has the planned keys that promise safety. A value that promises
// nothing is only listed.
func TestPlannedSafetyIsAWarning(t *testing.T) {
	t.Parallel()
	tests := []struct {
		yaml string
		warn bool
	}{
		{"privacy: {redact_pii: true}", true},
		{"privacy: {redact_pii: false}", false},
		{"security: {website_blocklist: {enabled: true, domains: [a.example]}}", false},
		{"security: {tirith_enabled: true}", true},
		{"security: {tirith_enabled: false}", false},
		{"security: {tirith_fail_open: false}", true},
		{"security: {tirith_fail_open: true}", false},
		{"security: {tirith_path: /opt/tirith}", true},
	}
	for _, tt := range tests {
		t.Run(tt.yaml, func(t *testing.T) {
			t.Parallel()
			got := texts(load(setup(t, tt.yaml+"\n", "")).Warnings())
			if !tt.warn {
				if len(got) > 0 {
					t.Errorf("got %q", got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], "does not protect you yet") || !strings.Contains(got[0], "hermes config unset ") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestSetSaysThatAPlannedSettingHasNoEffect(t *testing.T) {
	t.Parallel()
	c := load(setup(t, "", ""))
	for key, want := range map[string]string{
		"group_sessions_per_user": "saved; has no effect before the gateway",
		"voice.auto_tts":          "saved; has no effect before speech",
		"auxiliary.vision.model":  "saved; has no effect before the vision tools",
		"agent.max_turns":         "",
	} {
		change, err := c.Set(t.Context(), key, "1")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(change.Notes, "; "); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

// TestRemovedSettingsStillLoad has a key that was removed: it is read, ignored and reported.
func TestRemovedSettingsStillLoad(t *testing.T) {
	t.Parallel()
	c := load(setup(t, "runtime: {nofile_soft_limit: 10}\nagent: {max_turns: 3}\ndelegation: {subagent_auto_approve: true}\n", ""))
	want := []string{"config.yaml, line 1: runtime.nofile_soft_limit was removed: Hermes raises the limit of open files itself; " +
		"it is ignored. Remove it with `hermes config unset runtime.nofile_soft_limit`.",
		"config.yaml, line 3: delegation.subagent_auto_approve was removed: a child session asks the user of the session that started it; approvals.mode and rules hold for both; " +
			"it is ignored. Remove it with `hermes config unset delegation.subagent_auto_approve`."}
	if d := cmp.Diff(want, texts(c.Check())); d != "" {
		t.Error(d)
	}
	if c.Agent().MaxTurns != 3 || len(c.Warnings()) > 0 {
		t.Errorf("got %v, %q", c.Agent().MaxTurns, texts(c.Warnings()))
	}
	if !config.Removed("runtime.nofile_soft_limit") || config.Removed("runtime.other") || config.Removed("agent.max_turns") {
		t.Error("Removed does not say what was removed")
	}
}

func TestUnknownSideTasksAreReported(t *testing.T) {
	t.Parallel()
	change, err := load(setup(t, "", "")).Set(t.Context(), "auxiliary.compresion.model", "one")
	must(t, err)
	note := "auxiliary.compresion.model is not a known setting; it is saved but has no effect"
	if !slices.Equal(change.Notes, []string{note}) {
		t.Errorf("Set says %q", change.Notes)
	}
	got := texts(load(setup(t, "auxiliary:\n  compresion: {model: one}\n", "")).Check())
	want := "config.yaml, line 2: auxiliary.compresion is not a known setting; it has no effect. Did you mean auxiliary.compression?"
	if !slices.Contains(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestUnknownPersonalityIsReported(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"poet": "", "none": "", "\"\"": "",
		"poett":  "config.yaml, line 2: display.personality is \"poett\", which is not in agent.personalities; it is ignored. Did you mean poet?",
		"pirate": "config.yaml, line 2: display.personality is \"pirate\", which is not in agent.personalities; it is ignored. Add it with `hermes config set agent.personalities.pirate TEXT`.",
	} {
		c := load(setup(t, "agent: {personalities: {poet: Answer in verse.}}\ndisplay: {personality: "+name+"}\n", ""))
		if got := strings.Join(texts(c.Warnings()), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestTheSectionOfRemovedSettingsIsStillRead: what is left of it works, and what was removed is named once.
func TestTheSectionOfRemovedSettingsIsStillRead(t *testing.T) {
	t.Parallel()
	c := load(setup(t, "browser: {backend: local, record_sessions: true, camofox: {url: x}}\n", ""))
	got := strings.Join(texts(c.Check()), "\n")
	if c.Browser().Backend != "local" || strings.Count(got, "was removed") != 2 || strings.Contains(got, "backend") {
		t.Errorf("backend %q, check:\n%s", c.Browser().Backend, got)
	}
}
