package app_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/config"
	"hermes/internal/toolset"
)

// TestTheToolsetTableNamesOnlyToolsThatThereAre: what comes later brings its tools along.
func TestTheToolsetTableNamesOnlyToolsThatThereAre(t *testing.T) {
	t.Parallel()
	a := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }})
	defer a.Close()
	all, _, err := a.Toolsets(hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	has := []string{"memory_search"} // of a memory service
	for _, s := range all.States(t.Context()) {
		has = append(has, s.Tools...)
	}
	table := toolset.NewCatalogue(nil, nil, nil)
	named, unknown := table.Expand(t.Context(), table.Names()...)
	if len(unknown) > 0 {
		t.Errorf("the table includes %q, which it does not have", unknown)
	}
	for _, tool := range named {
		if !slices.Contains(has, tool) {
			t.Errorf("the table names the tool %s, which this program does not have", tool)
		}
	}
	for _, s := range all.States(t.Context()) {
		if table.Coming(s.Name) {
			t.Errorf("the toolset %s is there, but the table says that it comes later", s.Name)
		}
	}
}

// TestAToolsetThatComesLaterIsNoMistake: settings that name it are good, and are told that it has no effect.
func TestAToolsetThatComesLaterIsNoMistake(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "toolsets: [file, tts, flies]\nagent: {disabled_toolsets: [homeassistant]}\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	cfg, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	var notes, warnings []string
	for _, p := range cfg.Check() {
		switch p.Severity {
		case config.Note:
			notes = append(notes, p.String())
		default:
			warnings = append(warnings, p.String())
		}
	}
	for _, name := range []string{"tts", "homeassistant"} {
		if !slices.ContainsFunc(notes, func(n string) bool {
			return strings.Contains(n, `"`+name+`"`) && strings.Contains(n, "this version does not have it")
		}) {
			t.Errorf("nothing is said about %s: %q", name, notes)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "flies") {
		t.Errorf("warnings %q", warnings)
	}
	_, specs, err := a.Measure(t.Context(), hermes.RunSpec{})
	if err != nil || len(specs) != 4 {
		t.Errorf("%d tools, %v", len(specs), err)
	}
}
