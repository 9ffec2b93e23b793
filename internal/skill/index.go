package skill

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	list, err := l.Listing(ctx, o)
	return list.Text(), err
}

// Listing is what Index writes, for those who have little room.
func (l *Library) Listing(ctx context.Context, o Offer) (Listing, error) {
	items, err := l.items(ctx)
	if err != nil {
		return Listing{}, err
	}
	list := Listing{skills: make([]listed, 0, len(items)), usage: l.Usages}
	for i := range items {
		if it := &items[i]; l.hidden(*it) == "" && o.suits(&it.meta) {
			list.skills = append(list.skills, listed{it.category, it.meta.Name, Short(it.meta.Description)})
		}
	}
	return list, nil
}

// suits reports that a session has what a skill requires, and lacks something
// of what it stands in for.
func (o Offer) suits(m *Meta) bool {
	tool := func(name string) bool { return slices.Contains(o.Tools, name) }
	toolset := func(name string) bool { return o.Has != nil && o.Has(name) }
	return !slices.ContainsFunc(m.RequiresTools, not(tool)) && !slices.ContainsFunc(m.RequiresToolsets, not(toolset)) &&
		!slices.ContainsFunc(m.FallbackTools, tool) && !slices.ContainsFunc(m.FallbackToolsets, toolset)
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// Short cuts a description for a list: one line, at most 60 characters, with
// dots where something is missing.
func Short(description string) string {
	line := strings.TrimSpace(description)
	if strings.ContainsFunc(line, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) || strings.Contains(line, "  ") {
		line = strings.Join(strings.Fields(line), " ")
	}
	if len(line) <= shown || utf8.RuneCountInString(line) <= shown {
		return line
	}
	at := 0
	for range shown - 3 {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return strings.TrimSpace(line[:at]) + "..."
}
