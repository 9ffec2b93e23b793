package toolset

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/order"
	"hermes/internal/tokens"
)

// Search is the toolset with which a model finds and calls the tools that are not listed. A
// session has it if it has a deferrable toolset, whatever is enabled.
const Search = "tool_search"

// Describer is implemented by a tool that tells the model in its description which tools are
// deferred when the session begins.
type Describer interface {
	// Describe returns the description for these groups, sorted by name. Equal groups give the
	// same text.
	Describe(deferred []hermes.ToolGroup) string
}

// wanted is what a selection resolves to.
type wanted struct {
	tools   map[string]bool // the names of the tools that were known then
	rest    bool            // toolsets that come later are enabled, too
	noRest  bool            // they are disabled
	on, off expanded
	only    map[string]bool // empty is no limit
	offer   map[string]bool // toolsets that the run names
	unknown []string
}

// may reports whether a child may have a tool, if this is the selection of one.
func (w *wanted) may(tool string) bool { return len(w.only) == 0 || w.only[tool] }

// has reports whether the selection has a tool of a toolset, which may have come since.
func (w *wanted) has(toolset, tool string) bool {
	tool = Canonical(tool)
	on := w.whole(toolset) || w.on.tools[tool] || slices.Contains(w.on.unknown, tool)
	off := w.without(toolset) || w.off.tools[tool] || slices.Contains(w.off.unknown, tool)
	return on && !off && w.may(tool)
}

// whole reports whether a toolset is enabled as a whole, also one that comes later.
func (w *wanted) whole(toolset string) bool {
	if w.on.whole[toolset] || slices.Contains(w.on.unknown, toolset) || slices.Contains(w.on.unknown, strings.TrimPrefix(toolset, "mcp-")) {
		return true
	}
	_, ours := find(toolset)
	return w.rest && !ours
}

// without reports whether a toolset is disabled as a whole, also one that comes later.
func (w *wanted) without(toolset string) bool {
	_, ours := find(toolset)
	return w.noRest && !ours || w.off.whole[toolset] || slices.Contains(w.off.unknown, toolset) || slices.Contains(w.off.unknown, strings.TrimPrefix(toolset, "mcp-"))
}

// any reports whether the selection has tools of a toolset, or will have those that come.
func (w *wanted) any(ctx context.Context, c *Catalogue, s hermes.Toolset) bool {
	if w.whole(s.Name()) && !w.without(s.Name()) && len(w.only) == 0 {
		return true
	}
	return slices.ContainsFunc(c.toolsOf(ctx, s), func(t hermes.Tool) bool { return w.has(s.Name(), t.Spec().Name) })
}

// search adds the tools of the toolset Search, or removes them, as a selection needs them.
func (w *wanted) search(ctx context.Context, c *Catalogue) {
	needed := false
	for place, s := range c.all() {
		_, ok := w.deferrable(c, place, s)
		needed = needed || ok && w.any(ctx, c, s)
	}
	for _, s := range c.all() {
		if s.Name() != Search {
			continue
		}
		for _, t := range c.toolsOf(ctx, s) {
			name := t.Spec().Name
			w.tools[name] = needed && !w.off.whole[Search] && !w.off.tools[name] && w.may(name)
		}
	}
}

// late is a deferrable toolset of a session.
type late struct {
	set       hermes.Deferrable
	catalogue *Catalogue
	wanted    *wanted
	any       bool // the selection has tools of it, or will have those that come
}

// lates are the deferrable toolsets of a session, in their order, as they are now.
type lates struct {
	catalogue *Catalogue
	wanted    *wanted

	mu         sync.Mutex
	generation int
	list       []late
}

func latesOf(ctx context.Context, c *Catalogue, w *wanted, sets []hermes.Toolset) (list []late) {
	for place, ts := range sets {
		if d, ok := w.deferrable(c, place, ts); ok {
			list = append(list, late{d, c, w, w.any(ctx, c, ts)})
		}
	}
	return list
}

// deferrable returns a toolset whose tools a session may not be offered: one whose tools come late, or one
// of Hermes itself that the table defers and the run does not name, if it can be used.
func (w *wanted) deferrable(c *Catalogue, place int, ts hermes.Toolset) (hermes.Deferrable, bool) {
	if d, ok := ts.(hermes.Deferrable); ok {
		return d, true
	}
	r, _ := find(ts.Name())
	if r.hint == "" || w.offer[r.name] || w.offer["all"] || w.offer["*"] || c.available(context.Background(), place, ts) != "" {
		return nil, false
	}
	tools, err := list(context.Background(), ts)
	return own{ts, tools, err == nil}, true
}

// own is a toolset of Hermes itself that is deferred. Its tools do not change.
type own struct {
	hermes.Toolset
	tools []hermes.Tool
	known bool
}

// Live returns its tools.
func (o own) Live() ([]hermes.Tool, bool) { return o.tools, o.known }

// group returns the toolset without its tools.
func (l late) group() hermes.ToolGroup {
	g := hermes.ToolGroup{Toolset: l.set.Name()}
	if _, g.Own = l.set.(own); g.Own {
		r, _ := find(g.Toolset)
		g.Hint = r.hint
	}
	return g
}

// now returns the toolsets that are there now. The list must not be changed.
func (l *lates) now() []late {
	sets, generation := l.catalogue.grown()
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation != l.generation {
		l.generation, l.list = generation, latesOf(context.Background(), l.catalogue, l.wanted, sets)
	}
	return l.list
}

// live returns its tools now that the selection has. One whose Live panics knows none.
func (l late) live() (tools []hermes.Tool, known bool) {
	all, known := live(l.set)
	for _, t := range all {
		if known && l.wanted.has(l.set.Name(), t.Spec().Name) {
			tools = append(tools, t)
		}
	}
	return tools, known
}

func live(s hermes.Deferrable) (tools []hermes.Tool, known bool) {
	defer func() {
		if p := recover(); p != nil {
			tools, known = nil, false
		}
	}()
	return s.Live()
}

// entry is a tool of the toolset with its canonical schema.
func (l late) entry(t hermes.Tool) Entry {
	_, ours := find(l.set.Name())
	return l.catalogue.entry(t, l.set.Name(), !ours)
}

// deferAbove takes tools off the list: those that the table defers, and those of other deferrable
// toolsets if they have more tokens than limit. Without the tools that find them, those of the table stay listed.
func (s *Set) deferAbove(limit int) {
	_, finds := s.fixed(hermes.SearchTool)
	_, forwards := s.fixed(hermes.ForwardTool)
	late, other, sum := map[string]bool{}, map[string]bool{}, 0
	for _, l := range s.late.now() {
		if l.group().Own {
			late[l.set.Name()] = finds && forwards
		} else {
			other[l.set.Name()] = true
		}
	}
	for _, m := range s.tools {
		if other[m.Toolset] {
			sum += tokens.Texts(m.Spec.Name, m.Spec.Description, string(m.Spec.Schema))
		}
	}
	if limit > 0 && sum > limit {
		maps.Copy(late, other)
	}
	var listed []Entry
	for _, m := range s.tools {
		if late[m.Toolset] {
			s.deferred = append(s.deferred, m)
		} else {
			listed = append(listed, m)
		}
	}
	s.tools = listed
}

// isLate reports whether a tool is of a deferrable toolset.
func (s *Set) isLate(m Entry) bool {
	return slices.ContainsFunc(s.late.now(), func(l late) bool { return l.set.Name() == m.Toolset })
}

// describe has tools describe what is deferred: toolsets of which nothing is listed.
func (s *Set) describe() {
	var groups []hermes.ToolGroup
	for _, l := range s.late.now() {
		of := func(m Entry) bool { return m.Toolset == l.set.Name() }
		if l.any && !slices.ContainsFunc(s.tools, of) {
			g := l.group()
			for _, m := range s.deferred {
				if of(m) {
					g.Tools = append(g.Tools, m.Spec)
				}
			}
			groups = append(groups, g)
		}
	}
	order.By(groups, byToolset)
	for i, m := range s.tools {
		if d, ok := m.Tool.(Describer); ok {
			s.tools[i].Spec.Description = d.Describe(groups)
		}
	}
}

func byToolset(a, b hermes.ToolGroup) int { return strings.Compare(a.Toolset, b.Toolset) }

// live finds a tool as a deferrable toolset has it now. What the session began with under that
// name, if anything, is of the same toolset.
func (s *Set) live(name string, fixed Entry) (Entry, bool) {
	if fixed.Tool != nil {
		name = fixed.Spec.Name
	}
	for _, l := range s.late.now() {
		if fixed.Tool != nil && fixed.Toolset != l.set.Name() {
			continue
		}
		tools, _ := l.live()
		for _, t := range tools {
			if t.Spec().Name == name {
				return l.entry(t), true
			}
		}
	}
	return Entry{}, false
}

// Groups returns the deferrable toolsets of the session with the tools that can be called now; see
// [hermes.GroupedTools].
func (s *Set) Groups() []hermes.ToolGroup {
	var groups []hermes.ToolGroup
	seen, of := map[string]bool{}, s.toolsets()
	for _, l := range s.late.now() {
		g := l.group()
		add := func(m Entry) {
			if !seen[m.Spec.Name] {
				seen[m.Spec.Name] = true
				g.Tools = append(g.Tools, m.Spec)
			}
		}
		tools, known := l.live()
		for _, t := range tools {
			name := t.Spec().Name
			if by := cmp.Or(of[name], of[Canonical(name)]); by == "" || by == g.Toolset {
				add(l.entry(t))
			}
		}
		begun := false
		for _, list := range [][]Entry{s.tools, s.deferred} {
			for _, m := range list {
				if m.Toolset == g.Toolset {
					begun = true
					if !known {
						add(m)
					}
				}
			}
		}
		if g.Known = known; begun || l.any || len(g.Tools) > 0 {
			order.By(g.Tools, func(a, b hermes.Spec) int { return strings.Compare(a.Name, b.Name) })
			groups = append(groups, g)
		}
	}
	order.By(groups, byToolset)
	return groups
}

// Forwards reports whether another tool may call a tool; see [hermes.GroupedTools].
func (s *Set) Forwards(tool string) bool {
	m, ok := s.Find(tool)
	return !ok || s.isLate(m)
}

// toolsets names the toolset of each tool that the session began with, by all its names.
func (s *Set) toolsets() map[string]string {
	of := make(map[string]string, len(s.tools)+len(s.deferred))
	for _, list := range [][]Entry{s.tools, s.deferred} {
		for _, m := range list {
			of[m.Spec.Name], of[Canonical(m.Spec.Name)] = m.Toolset, m.Toolset
		}
	}
	return of
}
