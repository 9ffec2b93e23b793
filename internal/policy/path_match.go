package policy

import (
	"path"
	"regexp"
	"strings"
	"sync"

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
			if (!ok || r.order < found.order) && match(r.segments, names, r.tree) {
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

func matchName(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if begin, end, ok := strings.Cut(pattern, "*"); ok && !strings.ContainsAny(end, "*?") && !strings.Contains(begin, "?") {
		return len(name) >= len(begin)+len(end) && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
	}
	if strings.ContainsAny(pattern, "*?") {
		ok, _ := path.Match(pattern, name)
		return ok
	}
	if !isPattern(name) {
		return false
	}
	return expandsTo(name, pattern)
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
func isPattern(name string) bool { return strings.IndexAny(name, wildcards) > 0 }

// above reports whether a path is a folder on the way to a protected one.
func above(a Anchor, names []string, accept func(rule) bool) (rule, bool) {
	for _, r := range indexes()[a].all {
		if len(names) < len(r.segments) && match(r.segments[:len(names)], names, false) && accept(r) {
			return r, true
		}
	}
	return rule{}, false
}
