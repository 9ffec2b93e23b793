package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/prompt"
	"hermes/internal/tokens"
)

// crammed returns the prompt for a home with many skills, long notes and a model with a given
// window.
func crammed(t *testing.T, window int) (prompt.Prompt, error) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), fmt.Sprintf(
		"model: {default: \"custom:mine:small\"}\nproviders:\n  mine: {base_url: \"http://127.0.0.1:1/v1\", models: {small: {context_length: %d}}}\n", window))
	writeFile(t, filepath.Join(dir, "AGENTS.md"), strings.Repeat("Run the tests before you finish.\n", 300))
	for i := range 80 {
		at := filepath.Join(home, "skills", fmt.Sprintf("skill-%02d", i))
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(at, "SKILL.md"), fmt.Sprintf("---\nname: skill-%02d\ndescription: %s\n---\nSteps.\n", i, strings.Repeat("long words ", 8)))
	}
	if err := os.MkdirAll(filepath.Join(home, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "memories", "MEMORY.md"), strings.Repeat("A fact about something.\n§\n", 60))
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	p, _, err := a.Measure(t.Context(), hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}})
	return p, err
}

// TestSmallWindowsGetASmallPrompt checks that prompts for windows of 4K to 32K stay
// within their share and contain the skills and notes that fit.
func TestSmallWindowsGetASmallPrompt(t *testing.T) {
	t.Parallel()
	large, err := crammed(t, 128_000)
	if err != nil || len(large.Warnings) != 0 {
		t.Fatalf("%v, warnings %q", err, large.Warnings)
	}
	for _, window := range []int{4096, 8192, 16384, 32768} {
		p, err := crammed(t, window)
		if err != nil {
			t.Fatal(err)
		}
		text := p.Text()
		if n := tokens.Text(text); n > window/4 {
			t.Errorf("%d: the prompt has about %d tokens", window, n)
		}
		for _, part := range []string{"You are Hermes", "# How to work", "# Environment", "you MUST load it", "Run the tests before"} {
			if !strings.Contains(text, part) {
				t.Errorf("%d: %q is missing", window, part)
			}
		}
		warned := strings.Join(p.Warnings, "\n")
		if window <= 8192 && (!strings.Contains(warned, "skills index shortened from ") || !strings.Contains(warned, fmt.Sprintf("the window of custom:mine:small is %dK", window>>10))) {
			t.Errorf("%d: warnings %q", window, warned)
		}
		if window == 4096 && !strings.Contains(warned, "fill more than half of the model's window") {
			t.Errorf("no warning about the tools: %q", warned)
		}
	}
}
