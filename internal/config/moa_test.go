package config_test

import (
	"slices"
	"strings"
	"testing"
)

// TestWrongMixturesAreReported, and good ones are not.
func TestWrongMixturesAreReported(t *testing.T) {
	t.Parallel()
	good := "moa: {default_preset: panel, presets: {panel: {reference_models: [{model: a, reasoning_effort: high}, {model: b}]}}}\n"
	for settings, want := range map[string]string{
		good: "",
		strings.Replace(good, "default_preset: panel", "default_preset: panle", 1): "Did you mean panel?",
		strings.Replace(good, "high", "bogus", 1):                                  `is "bogus", which is no level`,
		strings.Replace(good, "{model: b}", "{provider: b}", 1):                    "names no model in one of its entries",
		"moa: {presets: {panel: {aggregator: {model: a}}}}\n":                      "names no model in one of its entries",
	} {
		var got []string
		for _, p := range load(setup(t, settings, "")).Check() {
			got = append(got, p.String())
		}
		if want == "" && len(got) > 0 || want != "" && !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}
