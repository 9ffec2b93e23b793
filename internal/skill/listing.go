package skill

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Listing is the list of skills offered to a session, in the order of its prompt.
type Listing struct {
	skills []listed
	usage  func() (map[string]Usage, error)
}

type listed struct{ category, name, about string }

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

// render writes the list. In each category, skills without a description come
// last.
func (l Listing) render(forms []form) string {
	var b strings.Builder
	b.Grow(len(indexText) + 80*len(l.skills))
	var names []string
	nameOnly, missing := 0, 0
	category, open := "", false
	end := func() {
		if len(names) > 0 {
			b.WriteString("- also " + strings.Join(names, ", ") + "\n")
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
		if forms[i] == named {
			nameOnly++
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
