package toolset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/toolset"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	d := toolset.Defaults{Platforms: map[string][]string{"cli": {"file"}}, Always: []string{"todo"}, Disabled: []string{"terminal"}}
	for name, tt := range map[string]struct {
		run  hermes.RunSpec
		want toolset.Selection
	}{
		"a chat":     {hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}}, toolset.Selection{Enabled: []string{"file"}, Disabled: []string{"terminal"}, Platform: "cli"}},
		"a question": {hermes.RunSpec{Origin: hermes.Origin{Platform: "oneshot"}}, toolset.Selection{Enabled: []string{"file"}, Disabled: []string{"terminal"}, Platform: "cli"}},
		"another platform": {
			hermes.RunSpec{Origin: hermes.Origin{Platform: "telegram"}}, toolset.Selection{Enabled: []string{"todo"}, Disabled: []string{"terminal"}, Platform: "telegram"},
		},
		"a run that names them": {
			hermes.RunSpec{Tools: hermes.ToolChoice{Enabled: []string{"web"}, Disabled: []string{"file"}, Only: []string{"x"}}},
			toolset.Selection{Enabled: []string{"web"}, Offer: []string{"web"}, Disabled: []string{"terminal", "file"}, Only: []string{"x"}, Platform: "cli"},
		},
		"no rules": {
			hermes.RunSpec{Prompt: hermes.PromptChoice{IgnoreRules: true}}, toolset.Selection{Enabled: []string{"file"}, Disabled: []string{"terminal", "memory"}, Platform: "cli"},
		},
	} {
		if diff := cmp.Diff(tt.want, toolset.Choose(tt.run, d)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	has := toolset.Has(t.Context(), []string{"read_file"})
	for name, want := range map[string]bool{"file": true, "terminal": false, "unknown": false} {
		if got := has(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
