package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/prompt"
	"hermes/internal/tokens"
)

// full is a prompt with something in every layer.
func full() (prompt.Input, tree) {
	in := ordinary()
	in.Soul = "/h/SOUL.md"
	long := func(name string, n int) prompt.Section {
		return prompt.Section{Name: name, Tier: prompt.Context, Text: strings.Repeat(name+" says a line of text.\n", n)}
	}
	in.Guides = []prompt.Section{long("memory-guide", 10), long("preloaded-skills", 300), long("skills", 300)}
	in.Memories = []prompt.Section{long("memory", 80), long("user", 50), long("outside-memory", 100)}
	return in, tree{files: map[string]string{
		"/h/SOUL.md":                  strings.Repeat("I am Ada's. ", 300),
		"/home/ada/project/AGENTS.md": strings.Repeat("Run the tests. 測試\n", 800),
	}}
}

func shortened(p prompt.Prompt) string {
	var names []string
	for _, s := range p.Sections {
		if s.Was > 0 {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestUsualWindowsChangeNothing(t *testing.T) {
	t.Parallel()
	in, files := full()
	unknown := prompt.Build(t.Context(), in, files)
	if got := shortened(unknown); got != "" || len(unknown.Warnings) != 0 {
		t.Errorf("shortened without a known window: %s, %q", got, unknown.Warnings)
	}
	for _, window := range []int{128_000, 200_000, 1_000_000} {
		in.Window = window
		if got := prompt.Build(t.Context(), in, files).Text(); got != unknown.Text() {
			t.Errorf("a window of %d changes the prompt", window)
		}
	}
}

// TestSmallWindowsShortenFromTheLowestLayerUp: with ever less room one layer
// after the other gives way, and what must stay stays.
func TestSmallWindowsShortenFromTheLowestLayerUp(t *testing.T) {
	t.Parallel()
	in, files := full()
	in.Model = "ollama:small"
	whole := prompt.Build(t.Context(), in, files)
	size := tokens.Text(whole.Text())
	before := ""
	for window := 4 * size; window >= 4096; window = window * 8 / 10 {
		in.Window = window
		p := prompt.Build(t.Context(), in, files)
		if again := prompt.Build(t.Context(), in, files); again.Text() != p.Text() {
			t.Fatalf("window %d: not the same twice", window)
		}
		// The layers that gave way are the lowest ones, without a gap.
		var lower []string
		whole := false
		for _, l := range prompt.Layers() {
			for _, s := range p.Sections {
				if s.Name == l.Name && s.Was == 0 {
					whole = true
				} else if s.Name == l.Name && whole {
					t.Errorf("window %d: %s was shortened before a lower layer", window, s.Name)
				} else if s.Name == l.Name {
					lower = append(lower, s.Name)
				}
			}
		}
		now := strings.Join(lower, " ")
		if !strings.HasPrefix(now, before) {
			t.Errorf("window %d: %s after %s", window, now, before)
		}
		before = now
		if !utf8.ValidString(p.Text()) {
			t.Errorf("window %d: a character was cut", window)
		}
		for _, name := range []string{"working", "platform", "environment", "memory-guide"} {
			if section(p, name) != section(prompt.Build(t.Context(), in, files), name) || section(p, name) == "" {
				t.Errorf("window %d: %s was touched", window, name)
			}
		}
		if n := tokens.Text(p.Text()); n > window/4 && len(lower) < len(prompt.Layers()) {
			t.Errorf("window %d: %d tokens, and only %s gave way", window, n, now)
		}
		for _, s := range p.Sections {
			if s.Was > 0 && !warned(p, "the window of ollama:small is ") {
				t.Errorf("window %d: %s was shortened without a warning: %q", window, s.Name, p.Warnings)
			}
		}
	}
	if len(strings.Fields(before)) != len(prompt.Layers()) {
		t.Errorf("at 4K only %q gave way", before)
	}
}

func warned(p prompt.Prompt, part string) bool {
	for _, w := range p.Warnings {
		if strings.Contains(w, part) {
			return true
		}
	}
	return false
}

func TestTheUserIsReportedWhatWasShortened(t *testing.T) {
	t.Parallel()
	in, files := full()
	in.Model, in.Window = "ollama:small", 8192
	p := prompt.Build(t.Context(), in, files)
	if !warned(p, "skills index shortened from 8.4 KB to ") || !warned(p, ": the window of ollama:small is 8K") {
		t.Errorf("warnings: %q", p.Warnings)
	}
	reported := map[string]int{}
	for _, w := range p.Warnings {
		name, _, _ := strings.Cut(w, " shortened")
		if reported[name]++; reported[name] > 1 {
			t.Errorf("reported twice: %q", w)
		}
	}
	in.Window = 2048
	if p := prompt.Build(t.Context(), in, files); !warned(p, "cannot be shortened to its limit of 512") {
		t.Errorf("warnings: %q", p.Warnings)
	}
}

func TestLimitsOfLayers(t *testing.T) {
	t.Parallel()
	in, files := full()
	in.Limits = map[string]int{"skills": 900, "project": 2000, "identity": 10, "user": 0, "tools": 3}
	p := prompt.Build(t.Context(), in, files)
	for name, most := range map[string]int{"skills": 900, "project": 2000, "identity": 500} {
		if n := utf8.RuneCountInString(section(p, name)); n > most || n < most/2 {
			t.Errorf("%s has %d characters, at most %d are allowed", name, n, most)
		}
	}
	if got := shortened(p); got != "identity skills project" {
		t.Errorf("shortened: %s", got)
	}
	if !warned(p, "context.layers.skills allows 900 characters") || !warned(p, "context.layers.tools is not a layer") {
		t.Errorf("warnings: %q", p.Warnings)
	}
	if got := section(p, "skills"); !strings.Contains(got, "skills index cut here") || !strings.HasSuffix(strings.Split(got, "\n")[10], "text.") {
		t.Errorf("not cut at a line's end, or without a note: %.200q", got)
	}
}

// TestSeveralProjectFilesShareTheSpace: short ones stay whole, and the last
// are named where there is too little for all.
func TestSeveralProjectFilesShareTheSpace(t *testing.T) {
	t.Parallel()
	in := ordinary()
	files := tree{files: map[string]string{"/home/ada/project/.cursorrules": "Be brief."}}
	for i := range 6 {
		files.files[fmt.Sprintf("/home/ada/project/.cursor/rules/r%d.mdc", i)] = strings.Repeat(fmt.Sprintf("rule %d. ", i), 300)
	}
	for _, most := range []int{12_000, 6_000, 3_000, 1_500} {
		in.Limits = map[string]int{"project": most}
		got := section(prompt.Build(t.Context(), in, files), "project")
		if n := utf8.RuneCountInString(got); n > most {
			t.Errorf("%d characters, at most %d", n, most)
		}
		if !strings.Contains(got, "Be brief.") || !strings.Contains(got, "r0.mdc was cut") {
			t.Errorf("%d: %.300q", most, got)
		}
		for i := range 6 {
			if name := fmt.Sprintf("r%d.mdc", i); !strings.Contains(got, name) {
				t.Errorf("%d: %s is not even named", most, name)
			}
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("one\ntwo\n日本語", 4096, 300)
	f.Fuzz(func(t *testing.T, text string, window, limit int) {
		in := ordinary()
		in.Window, in.Limits = window%100_000, map[string]int{"project": limit, "memory": limit}
		in.Memories = []prompt.Section{{Name: "memory", Text: text}}
		p := prompt.Build(t.Context(), in, tree{files: map[string]string{"/home/ada/project/AGENTS.md": text}})
		if got := section(p, "project"); !utf8.ValidString(got) {
			t.Errorf("got %q", got)
		}
	})
}

func TestLayersAddUpToTheText(t *testing.T) {
	t.Parallel()
	in, files := full()
	in.Window = 8192
	p := prompt.Build(t.Context(), in, files)
	sum := 0
	for i, l := range p.Layers() {
		if l.Name != p.Sections[i].Name || l.Was != p.Sections[i].Was || l.Was > 0 && (l.Was <= l.Bytes || l.Why == "") {
			t.Errorf("got %+v", l)
		}
		sum += l.Bytes
	}
	if sum != len(p.Text()) {
		t.Errorf("the layers have %d bytes, the text %d", sum, len(p.Text()))
	}
}
