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
	segments []string
	tree     bool // the folder and everything below it
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
		r.segments = split(row.Pattern)
		switch first := r.segments[0]; {
		case !strings.ContainsAny(first, "*?"):
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
		for _, r := range rules {
			if (!ok || r.order < found.order) && match(r.segments, names, r.tree) && !perhapsFree(r, names) {
				found, ok = r, true
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
func match(pattern, names []string, tree bool) bool {
	if len(pattern) == 0 {
		return tree || len(names) == 0
	}
	if pattern[0] == "**" {
		for i := range len(names) + 1 {
			if match(pattern[1:], names[i:], tree) {
				return true
			}
		}
		return false
	}
	return len(names) > 0 && matchName(pattern[0], names[0]) && match(pattern[1:], names[1:], tree)
}

// matchName compares one name of a rule with one of a path.
func matchName(pattern, name string) bool {
	if pattern == name {
		return true
	}
	wild := isWild(pattern)
	switch {
	case wild && matchWild(pattern, name):
		return true
	case !isPattern(name):
		return false
	case !wild:
		return expandsTo(name, pattern)
	}
	// That a* may stand for a name with any ending says nothing.
	return (pattern[0] != '*' || !strings.Contains(name, "*")) && meet(pattern, brackets().ReplaceAllString(name, "?"))
}

// isWild reports whether a pattern of a rule has * or ?. It is asked for each rule and name, and
// two searches for a byte are several times as fast as one for any of two.
func isWild(pattern string) bool {
	return strings.IndexByte(pattern, '*') >= 0 || strings.IndexByte(pattern, '?') >= 0
}

// matchWild compares a pattern with a name as it is spelled.
func matchWild(pattern, name string) bool {
	if begin, end, ok := strings.Cut(pattern, "*"); ok && !isWild(end) && !isWild(begin) {
		return len(name) >= len(begin)+len(end) && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
	}
	ok, _ := path.Match(pattern, name)
	return ok
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
		if strings.IndexByte(wildcards, name[i]) >= 0 {
			return i > 0
		}
	}
	return false
}

// above reports whether a path is a folder on the way to a protected one.
func above(a Anchor, names []string, accept func(rule) bool) (rule, bool) {
	for _, r := range indexes()[a].all {
		if len(names) < len(r.segments) && match(r.segments[:len(names)], names, false) && accept(r) {
			return r, true
		}
	}
	return rule{}, false
}
