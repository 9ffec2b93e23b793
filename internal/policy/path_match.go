package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/internal/lazy"

	"mvdan.cc/sh/v3/pattern"
)

// rule is a row of the table, ready to be matched.
type rule struct {
	Protected
	order    int
	segments []segment
	tree     bool // the folder and everything below it
}

// segment is one name of a pattern, ready to be matched.
type segment struct {
	text       string
	wild       bool // it has * or ?
	begin, end string
	cut        bool // it is begin, one * and end
}

func segmentsOf(pattern string) []segment {
	names := split(pattern)
	list := make([]segment, len(names))
	for i, name := range names {
		list[i] = segmentOf(name)
	}
	return list
}

func segmentOf(name string) segment {
	s := segment{text: name}
	begin, end, star := strings.Cut(name, "*")
	more := strings.IndexByte(begin, '?') >= 0 || strings.IndexByte(end, '*') >= 0 || strings.IndexByte(end, '?') >= 0
	if s.wild = star || more; star && !more {
		s.begin, s.end, s.cut = begin, end, true
	}
	return s
}

// index finds the rules that may match a path by a name in it.
type index struct {
	byName map[string][]rule // rules by their first name
	wild   []rule            // rules whose first name has a wildcard
	files  []rule            // the same, of a single name: they match the last one only
	all    []rule
}

var indexes = sync.OnceValue(func() map[Anchor]index {
	made := map[Anchor]index{}
	for i, row := range table() {
		x := made[row.Anchor]
		if x.byName == nil {
			x.byName = map[string][]rule{}
		}
		r := rule{Protected: row, order: i, tree: strings.HasSuffix(row.Pattern, "/")}
		r.segments = segmentsOf(row.Pattern)
		switch first := r.segments[0].text; {
		case !r.segments[0].wild:
			x.byName[first] = append(x.byName[first], r)
		case len(r.segments) == 1 && !r.tree && first != "**":
			x.files = append(x.files, r)
		default:
			x.wild = append(x.wild, r)
		}
		x.all = append(x.all, r)
		made[row.Anchor] = x
	}
	return made
})

func split(p string) []string { return strings.Split(strings.Trim(p, "/"), "/") }

// first returns the first rule of an anchor that matches the names of a path
// below it.
func first(a Anchor, names []string) (rule, bool) {
	x := indexes()[a]
	found, ok := rule{}, false
	try := func(rules []rule, names []string) {
		for i := range rules {
			if r := &rules[i]; (!ok || r.order < found.order) && match(r.segments, names, r.tree) && !perhapsFree(*r, names) {
				found, ok = *r, true
			}
		}
	}
	for i := range max(len(names), 1) {
		switch {
		case i == len(names): // the anchor's own folder
			try(x.all, nil)
		case isPattern(names[i]):
			try(x.all, names[i:])
		default:
			try(x.byName[names[i]], names[i:])
			try(x.wild, names[i:])
			if i == len(names)-1 {
				try(x.files, names[i:])
			}
		}
		if a != Anywhere {
			break
		}
	}
	return found, ok
}

// perhapsFree reports whether a rule makes a path free only if a pattern in it is
// expanded to the right names: .env* may be .env.example, but also .env.
func perhapsFree(r rule, names []string) bool {
	return r.Kind == free && slices.ContainsFunc(names[:len(r.segments)], isPattern)
}

// match compares the names of a pattern with those of a path. The path may hold
// patterns of a shell itself, which are taken to match whatever they can.
func match(pattern []segment, names []string, tree bool) bool {
	if len(pattern) == 0 {
		return tree || len(names) == 0
	}
	if pattern[0].text == "**" {
		for i := range len(names) + 1 {
			if match(pattern[1:], names[i:], tree) {
				return true
			}
		}
		return false
	}
	return len(names) > 0 && pattern[0].matches(names[0]) && match(pattern[1:], names[1:], tree)
}

// matches compares one name of a rule with one of a path.
func (s *segment) matches(name string) bool {
	switch {
	case s.cut:
		if len(name) >= len(s.begin)+len(s.end) && strings.HasPrefix(name, s.begin) && strings.HasSuffix(name, s.end) {
			return true
		}
	case s.text == name:
		return true
	case s.wild:
		if ok, _ := path.Match(s.text, name); ok {
			return true
		}
	}
	switch {
	case !isPattern(name):
		return false
	case !s.wild:
		return expandsTo(name, s.text)
	}
	// That a* may stand for a name with any ending says nothing.
	return (s.text[0] != '*' || !strings.Contains(name, "*")) && meet(s.text, brackets().ReplaceAllString(name, "?"))
}

// brackets finds the letters between brackets in a pattern of a shell.
var brackets = lazy.Regexp(`\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]`)

// meet reports whether some name matches both of two patterns of * and ?. Its work
// grows with the product of their lengths.
func meet(a, b string) bool {
	// ends[j] says whether what is left of a meets b[j:].
	ends := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		corner := false // ends[j+1] for a[i+1:]
		for j := len(b); j >= 0; j-- {
			below := ends[j]
			switch {
			case i == len(a):
				ends[j] = strings.Trim(b[j:], "*") == ""
			case a[i] == '*':
				ends[j] = below || j < len(b) && ends[j+1]
			case j == len(b):
				ends[j] = false
			case b[j] == '*':
				ends[j] = ends[j+1] || below
			default:
				ends[j] = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && corner
			}
			corner = below
		}
	}
	return ends[0]
}

// expandsTo reports whether a pattern of a shell may stand for a name. One that
// cannot be read may stand for any that begins as it does.
func expandsTo(shell, name string) bool {
	if !strings.HasPrefix(name, shell[:strings.IndexAny(shell, wildcards)]) {
		return false
	}
	text, err := pattern.Regexp(shell, pattern.EntireString)
	if err != nil {
		return true
	}
	re, err := regexp.Compile(text)
	return err != nil || re.MatchString(name)
}

// wildcards begin the patterns of a shell.
const wildcards = "*?["

// isPattern reports whether a name in a path is a pattern of a shell that says
// something about its beginning. One that begins with a wildcard does not match
// names with a dot, and may match anything else: it says nothing.
func isPattern(name string) bool {
	for i := range len(name) { // quicker for short names than strings.IndexAny
		switch name[i] {
		case '*', '?', '[':
			return i > 0
		}
	}
	return false
}

// above reports whether a path is a folder on the way to a protected one, and to which: of those that
// are accepted, the first.
func above(a Anchor, names []string, accept func(rule) bool) (rule, bool) {
	x := indexes()[a]
	lists := [...][]rule{x.all, nil}
	if len(names) > 0 && !isPattern(names[0]) {
		lists = [...][]rule{x.byName[names[0]], x.wild}
	}
	found, ok := rule{}, false
	for _, list := range lists {
		for i := range list {
			if r := &list[i]; (!ok || r.order < found.order) && len(names) < len(r.segments) && match(r.segments[:len(names)], names, false) && accept(*r) {
				found, ok = *r, true
			}
		}
	}
	return found, ok
}
