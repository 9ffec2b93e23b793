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

// shown is the number of characters of a description in the index.
const shown = 60

// Offer is what a session has. It decides which skills are offered.
type Offer struct {
	Tools []string
	// Has reports whether the session has a toolset; nil means it has none.
	Has func(toolset string) bool
}

// Index returns the list of skills for the system prompt, with the rule that
// they must be used, or "" if there are none.
func (l *Library) Index(ctx context.Context, o Offer) (string, error) {
	list, err := l.Listing(ctx, o)
	return list.Text(), err
}

// Listing returns the list that Index writes, so that a caller can shorten it.
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

// suits reports whether a session has what a skill requires, and has none of
// what the skill is a fallback for.
func (o Offer) suits(m *Meta) bool {
	tool := func(name string) bool { return slices.Contains(o.Tools, name) }
	toolset := func(name string) bool { return o.Has != nil && o.Has(name) }
	return !slices.ContainsFunc(m.RequiresTools, not(tool)) && !slices.ContainsFunc(m.RequiresToolsets, not(toolset)) &&
		!slices.ContainsFunc(m.FallbackTools, tool) && !slices.ContainsFunc(m.FallbackToolsets, toolset)
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// Short shortens a description for a list: one line of at most 60 characters,
// with dots at the end if it was cut.
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
