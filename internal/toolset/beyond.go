package toolset

import (
	"maps"
	"slices"

	"hermes"
)

// later is the name in a report for all toolsets that come later.
const later = "toolsets that come later"

// Beyond returns what a session with this set gets, now or later, that one with another set does not: names of
// tools and toolsets, sorted. calls reports whether the other one can call a tool now.
func (s *Set) Beyond(other *Set, calls func(tool string) bool) []string {
	more := map[string]bool{}
	add := func(tool string) {
		if !calls(tool) && tool != hermes.SearchTool && tool != hermes.ForwardTool { // these reach only what is compared here
			more[tool] = true
		}
	}
	for _, name := range s.Names() {
		add(name)
	}
	for _, g := range s.Groups() {
		for _, t := range g.Tools {
			add(t.Name)
		}
	}
	theirs, mine := s.late.wanted, other.late.wanted
	for tool, on := range theirs.tools { // also of toolsets that cannot be used now
		if on && !mine.tools[tool] {
			add(tool)
		}
	}
	if theirs.rest && !theirs.noRest && (!mine.rest || mine.noRest) {
		more[later] = true
	}
	named := slices.Concat(theirs.on.unknown, mine.off.unknown, slices.Collect(maps.Keys(theirs.on.whole)), slices.Collect(maps.Keys(mine.off.whole)))
	for _, l := range s.late.now() {
		named = append(named, l.set.Name())
	}
	for _, name := range named {
		if _, ours := find(name); !ours && theirs.gets(name) && !mine.gets(name) {
			more[name] = true
		}
	}
	return slices.Sorted(maps.Keys(more))
}

// gets reports whether a selection has a toolset as a whole, whatever tools come.
func (w *wanted) gets(toolset string) bool {
	return w.whole(toolset) && !w.without(toolset) && len(w.only) == 0
}
