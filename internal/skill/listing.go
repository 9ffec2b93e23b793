package skill

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"sort"
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
			list.skills = append(list.skills, listed{it.category, it.meta.Name, Short(it.meta.Description), it.bundled != nil})
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

// Listing is the list of skills offered to a session, in the order of its prompt.
type Listing struct {
	skills []listed
	usage  func() (map[string]Usage, error)
}

type listed struct {
	category, name, about string
	plain                 bool // of this program, with a name that says what it is for
}

// form is how much of a skill is listed.
type form uint8

const (
	whole form = iota // name and description
	named             // the name alone
	gone
)

// Text returns the list with the rule that skills must be used, or "" if there
// are none.
func (l Listing) Text() string {
	if len(l.skills) == 0 {
		return ""
	}
	return l.render(make([]form, len(l.skills)))
}

// Within returns the list with at most this many characters, if possible. First
// the least used skills lose their descriptions, then they are left out, and a
// line says how many.
func (l Listing) Within(most int) string {
	text := l.Text()
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	order := l.leastUsed()
	try := func(n int) string {
		forms := make([]form, len(l.skills))
		for i, at := range order {
			switch {
			case i < n-len(order):
				forms[at] = gone
			case i < n:
				forms[at] = named
			}
		}
		return l.render(forms)
	}
	last := 2 * len(order)
	return try(sort.Search(last, func(n int) bool { return utf8.RuneCountInString(try(n)) <= most }))
}

// leastUsed returns the indexes of the skills, least and least recently used
// first. Equal skills come in reverse order of the list.
func (l Listing) leastUsed() []int {
	usage := map[string]Usage{}
	if l.usage != nil {
		if known, err := l.usage(); err == nil { // without the counts all are equal
			usage = known
		}
	}
	order := make([]int, len(l.skills))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := usage[l.skills[a].name], usage[l.skills[b].name]
		return cmp.Or(cmp.Compare(x.Uses, y.Uses), x.Used.Compare(y.Used), cmp.Compare(b, a))
	})
	return order
}

// render writes the list. Plain skills have no description: the text is part of every request. In each
// category, skills without a description come last.
func (l Listing) render(forms []form) string {
	var b strings.Builder
	b.Grow(len(indexText) + 80*len(l.skills))
	var names []string
	nameOnly, missing := 0, 0
	category, open := "", false
	end := func() {
		if len(names) > 0 {
			b.WriteString("- " + strings.Join(names, ", ") + "\n")
			names = names[:0]
		}
	}
	for i, s := range l.skills {
		if forms[i] == gone {
			missing++
			continue
		}
		if !open || s.category != category {
			end()
			category, open = s.category, true
			b.WriteString(cmp.Or(category, "other") + ":\n")
		}
		if s.plain || forms[i] == named {
			if !s.plain {
				nameOnly++
			}
			names = append(names, s.name)
			continue
		}
		b.WriteString("- ")
		b.WriteString(s.name)
		b.WriteString(": ")
		b.WriteString(s.about)
		b.WriteByte('\n')
	}
	end()
	if nameOnly+missing > 0 {
		fmt.Fprintf(&b, "(for lack of space %d have no description and %d are left out; skills_list shows all)\n", nameOnly, missing)
	}
	return strings.Replace(strings.TrimSpace(indexText), "{skills}", strings.TrimSpace(b.String()), 1)
}
