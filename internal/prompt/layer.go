package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Layer is a kind of section that can be shortened when the prompt is too long.
type Layer struct {
	Name  string // of its sections, and its key in the configuration
	Title string // its name in texts for users
	// Min is the least number of characters it keeps; with 0 it may shrink to
	// a line that says what is missing.
	Min int
}

// Layers returns the kinds of sections that can be shortened, the lowest first.
// Others, such as the rules and the environment, are never shortened.
func Layers() []Layer {
	return []Layer{
		{Name: "outside-memory", Title: "external memory"},
		{Name: "memory", Title: "notes (MEMORY.md)", Min: 400},
		{Name: "user", Title: "profile (USER.md)", Min: 300},
		{Name: "skills", Title: "skills index", Min: 800},
		{Name: "project", Title: "project files", Min: 1000},
		{Name: "preloaded-skills", Title: "preloaded skills", Min: 2000},
		{Name: "identity", Title: "SOUL.md", Min: 500},
	}
}

// within returns a section with at most so many characters, but never fewer
// than the minimum of its layer.
func (l Layer) within(s Section, most int) string {
	most = max(most, l.Min)
	if utf8.RuneCountInString(s.Text) <= most {
		return s.Text
	}
	shorten := s.Shorten
	if shorten == nil {
		shorten = func(most int) string { return firstLines(l.Title, s.Text, most) }
	}
	if text := strings.TrimSpace(shorten(most)); len(text) < len(s.Text) {
		return text
	}
	return s.Text
}

// firstLines keeps the first lines of a text.
func firstLines(title, text string, most int) string {
	count := utf8.RuneCountInString(text)
	end := fmt.Sprintf("[… %s cut here to save space: %d characters in total …]", title, count)
	left := most - utf8.RuneCountInString(end) - 1
	kept := 0 // bytes
	for line := range strings.Lines(text) {
		if left -= utf8.RuneCountInString(line); left < 0 {
			break
		}
		kept += len(line)
	}
	return strings.TrimRight(text[:kept], "\n") + "\n" + end
}

// limits returns the configured limits and warns of names that are not layers.
func (b *builder) limits() map[string]int {
	var names []string
	for _, l := range Layers() {
		names = append(names, l.Name)
	}
	for _, name := range sorted(b.Limits) {
		if !slices.Contains(names, name) {
			b.warn(fmt.Sprintf("context.layers.%s is not a layer; the layers are %s", name, strings.Join(names, ", ")))
		}
	}
	return b.Limits
}

func sorted(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Title returns the title of a layer for users, or the name if it has none.
func Title(name string) string {
	for _, l := range Layers() {
		if l.Name == name {
			return l.Title
		}
	}
	return name
}
