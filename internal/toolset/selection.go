package toolset

import (
	"context"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/order"
)

// Selection names the tools that a session should have.
type Selection struct {
	// Enabled names toolsets (or single tools). Empty means the preset of
	// Platform and every toolset of this program that is not in the table,
	// such as those of MCP servers.
	Enabled []string
	// Disabled is removed last and always wins.
	Disabled []string
	// Offer names toolsets that are listed although the table defers them; all and * are every one.
	Offer    []string
	Platform string
	// Only, if set, limits the result to these tools: a child has no more than
	// its parent.
	Only []string
	// DeferAbove defers the tools of deferrable toolsets if all of them together have more
	// tokens than this: they are found and run, but not listed. 0 or less defers none.
	DeferAbove int
}

// Off is a requested toolset that cannot be used, with the reason as a text for
// the user.
type Off struct {
	Toolset string
	Reason  string
}

// Set is the tools of a session. Its list does not change; what else can be called changes with
// the deferrable toolsets. It may be used concurrently.
type Set struct {
	tools    []Entry // that are listed, sorted by name
	deferred []Entry // that are not, sorted by name
	late     *lates
	// Off are the requested toolsets that are not available.
	Off []Off
	// Unknown are names that no toolset and no tool has.
	Unknown []string
	// Shadowed are tools left out because another toolset has a tool of that name.
	Shadowed []string
}

// Entry is one tool of a Set.
type Entry struct {
	Spec    hermes.Spec           // with a canonical schema
	Shape   func() map[string]any // the schema, decoded once at its first use; it must not be changed
	Tool    hermes.Tool
	Toolset string // the name of its group
}

// Select resolves a selection: the enabled tools, minus the disabled ones, as
// far as they are available. It fails only if ctx ends.
func (c *Catalogue) Select(ctx context.Context, sel Selection) (*Set, error) {
	w := c.wanted(ctx, sel)
	s, taken := &Set{Unknown: w.unknown}, map[string]bool{}
	sets, generation := c.grown()
	for place, ts := range sets {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.join(ctx, c, place, ts, w.tools, taken)
	}
	s.late = &lates{catalogue: c, wanted: w, generation: generation, list: latesOf(ctx, c, w, sets)}
	order.By(s.tools, func(a, b Entry) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
	s.deferAbove(sel.DeferAbove)
	s.describe()
	return s, nil
}

// wanted resolves a selection to names of tools.
func (c *Catalogue) wanted(ctx context.Context, sel Selection) *wanted {
	ask := sel.Enabled
	if len(ask) == 0 {
		ask = []string{preset(sel.Platform)}
		for _, ts := range c.all() {
			if _, known := find(ts.Name()); !known {
				ask = append(ask, ts.Name())
			}
		}
	}
	on, off := c.expand(ctx, ask), c.expandDisabled(ctx, sel.Disabled)
	every := func(names []string) bool { return slices.Contains(names, "all") || slices.Contains(names, "*") }
	w := &wanted{rest: len(sel.Enabled) == 0 || every(sel.Enabled), noRest: every(sel.Disabled), tools: make(map[string]bool, len(on.tools)), on: on, off: off, only: make(map[string]bool, len(sel.Only)), unknown: append(on.unknown, off.unknown...), offer: map[string]bool{}}
	for _, name := range sel.Offer {
		w.offer[renamed(name)] = true
	}
	for _, t := range sel.Only {
		w.only[t] = true
	}
	for t := range on.tools {
		w.tools[t] = w.may(t)
	}
	for t := range off.tools {
		delete(w.tools, t)
	}
	w.search(ctx, c)
	return w
}

// join adds the wanted tools of one toolset. taken are the names of all tools so far.
func (s *Set) join(ctx context.Context, c *Catalogue, place int, ts hermes.Toolset, wanted, taken map[string]bool) {
	tools, err := list(ctx, ts)
	if err != nil {
		s.Off = append(s.Off, Off{ts.Name(), err.Error()})
		return
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t hermes.Tool) bool { return !wanted[Canonical(t.Spec().Name)] })
	if len(tools) == 0 {
		return
	}
	if why := c.available(ctx, place, ts); why != "" {
		s.Off = append(s.Off, Off{ts.Name(), why})
		return
	}
	_, ours := find(ts.Name())
	for _, t := range tools {
		name := t.Spec().Name
		if taken[name] || taken[Canonical(name)] {
			s.Shadowed = append(s.Shadowed, ts.Name()+": "+name)
			continue
		}
		taken[name], taken[Canonical(name)] = true, true
		s.tools = append(s.tools, c.entry(t, ts.Name(), !ours))
	}
}

// entry is a tool of a toolset with its canonical schema.
func (c *Catalogue) entry(t hermes.Tool, toolset string, foreign bool) Entry {
	spec := t.Spec()
	var read readSchema
	if own, ok := t.(CanonicalTool); ok {
		read = readSchema{spec.Schema, own.Shape}
	} else {
		read = c.schema(spec.Schema, foreign)
	}
	spec.Schema = read.text
	return Entry{Spec: spec, Shape: read.shape, Tool: t, Toolset: toolset}
}

// Specs lists the tools as models see them, sorted by name and with canonical
// schemas: the same tools give the same bytes.
func (s *Set) Specs() []hermes.Spec {
	specs := make([]hermes.Spec, len(s.tools))
	for i, m := range s.tools {
		specs[i] = m.Spec
	}
	return specs
}

// Names lists the tools that the session began with, sorted, also those that are deferred.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.tools)+len(s.deferred))
	for _, list := range [][]Entry{s.tools, s.deferred} {
		for _, m := range list {
			names = append(names, m.Spec.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Toolset names the toolset that a tool came from, "" if there is no such tool.
func (s *Set) Toolset(tool string) string {
	m, _ := s.Find(tool)
	return m.Toolset
}

// Find finds a tool by its name, also by its newer or older name, and also one that is not listed.
// A tool of a deferrable toolset is found as it is now, or as the session began with it.
func (s *Set) Find(name string) (Entry, bool) {
	fixed, ok := s.fixed(name)
	if live, found := s.live(name, fixed); found {
		return live, true
	}
	return fixed, ok
}

// fixed finds a tool that the session began with.
func (s *Set) fixed(name string) (Entry, bool) {
	for _, list := range [][]Entry{s.tools, s.deferred} {
		for _, m := range list {
			if m.Spec.Name == name || m.Spec.Name == Canonical(name) || Canonical(m.Spec.Name) == name {
				return m, true
			}
		}
	}
	return Entry{}, false
}

// State is the state of a toolset, for lists that users read.
type State struct {
	Name  string
	Tools []string // sorted
	// Off says why the toolset cannot be used now; empty means that it can.
	Off string
}

// States lists the toolsets that this program has, in their order.
func (c *Catalogue) States(ctx context.Context) []State {
	var states []State
	for place, ts := range c.all() {
		st := State{Name: ts.Name(), Off: c.available(ctx, place, ts)}
		tools, err := list(ctx, ts)
		if err != nil && st.Off == "" {
			st.Off = err.Error()
		}
		for _, t := range tools {
			st.Tools = append(st.Tools, t.Spec().Name)
		}
		slices.Sort(st.Tools)
		states = append(states, st)
	}
	return states
}
