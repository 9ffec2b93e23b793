package skill

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed index.md
var indexText string

// shown is how many characters of a description the index shows.
const shown = 60

// Offer is what a session has, which decides on the skills that it is offered.
type Offer struct {
	Tools []string
	// Has reports whether a toolset is there; nil means none is.
	Has func(toolset string) bool
}

// Index is the list of skills for the system prompt, with the rule that they
// must be used; "" if there is no skill.
func (l *Library) Index(ctx context.Context, o Offer) (string, error) {
	items, err := l.items(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	last := "-"
	for _, it := range items {
		if l.hidden(it) != "" || !o.suits(it.meta) {
			continue
		}
		if it.category != last {
			last = it.category
			name := last
			if name == "" {
				name = "other"
			}
			fmt.Fprintf(&b, "%s:\n", name)
		}
		fmt.Fprintf(&b, "- %s: %s\n", it.meta.Name, Short(it.meta.Description))
	}
	if b.Len() == 0 {
		return "", nil
	}
	return strings.Replace(strings.TrimSpace(indexText), "{skills}", strings.TrimSpace(b.String()), 1), nil
}

// suits reports that a session has what a skill requires, and lacks something
// of what it stands in for.
func (o Offer) suits(m Meta) bool {
	tool := func(name string) bool { return slices.Contains(o.Tools, name) }
	toolset := func(name string) bool { return o.Has != nil && o.Has(name) }
	return !slices.ContainsFunc(m.RequiresTools, not(tool)) && !slices.ContainsFunc(m.RequiresToolsets, not(toolset)) &&
		!slices.ContainsFunc(m.FallbackTools, tool) && !slices.ContainsFunc(m.FallbackToolsets, toolset)
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// Short cuts a description for a list: one line, at most 60 characters, with
// dots where something is missing.
func Short(description string) string {
	runes := []rune(strings.Join(strings.Fields(description), " "))
	if len(runes) <= shown {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:shown-3])) + "..."
}
