package toolbox

import (
	"context"
	"slices"
	"strings"

	"hermes"
)

// Selection says which tools a session shall have.
type Selection struct {
	// Enabled names toolsets (or single tools); empty is the preset of
	// Platform with every toolset of this program that no table row knows,
	// such as those of MCP servers.
	Enabled []string
	// Disabled is taken away last and always wins.
	Disabled []string
	Platform string
	// Only, where set, narrows the result to these tools: a child has no more
	// than its parent.
	Only []string
}

// Off is a toolset that was asked for and cannot be used, with the reason in
// words for the person.
type Off struct {
	Toolset string
	Reason  string
}

// Set is the fixed list of tools of a session. It does not change and may be
// used concurrently.
type Set struct {
	tools []member // sorted by name
	// Off are the toolsets that were asked for but are not available.
	Off []Off
	// Unknown are names that no toolset and no tool has.
	Unknown []string
	// Shadowed are tools left out because another toolset has the name.
	Shadowed []string
}

type member struct {
	spec    hermes.Spec
	shape   map[string]any // the schema, decoded once; never changed
	tool    hermes.Tool
	toolset string
}

// Select resolves a selection: what is asked for, minus what is disabled, as
// far as it is available. It fails only if ctx ends.
func (c *Catalogue) Select(ctx context.Context, sel Selection) (*Set, error) {
	wanted, unknown := c.wanted(ctx, sel)
	s := &Set{Unknown: unknown}
	for place := range c.sets {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.join(ctx, c, place, wanted)
	}
	slices.SortFunc(s.tools, func(a, b member) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	return s, nil
}

// wanted is the set of tool names that a selection stands for.
func (c *Catalogue) wanted(ctx context.Context, sel Selection) (names map[string]bool, unknown []string) {
	ask := sel.Enabled
	if len(ask) == 0 {
		ask = []string{preset(sel.Platform)}
		for _, ts := range c.sets {
			if _, known := find(ts.Name()); !known {
				ask = append(ask, ts.Name())
			}
		}
	}
	tools, unknown := c.Expand(ctx, ask...)
	names = make(map[string]bool, len(tools))
	for _, t := range tools {
		names[t] = len(sel.Only) == 0 || slices.Contains(sel.Only, t)
	}
	away, strange := c.Expand(ctx, sel.Disabled...)
	for _, t := range away {
		delete(names, t)
	}
	return names, append(unknown, strange...)
}

// join adds the wanted tools of one toolset.
func (s *Set) join(ctx context.Context, c *Catalogue, place int, wanted map[string]bool) {
	ts := c.sets[place]
	tools, err := list(ctx, ts)
	if err != nil {
		s.Off = append(s.Off, Off{ts.Name(), err.Error()})
		return
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t hermes.Tool) bool { return !wanted[aliased(t.Spec().Name)] })
	if len(tools) == 0 {
		return
	}
	if why := c.available(ctx, place); why != "" {
		s.Off = append(s.Off, Off{ts.Name(), why})
		return
	}
	_, ours := find(ts.Name())
	for _, t := range tools {
		spec := t.Spec()
		if _, taken := s.member(spec.Name); taken {
			s.Shadowed = append(s.Shadowed, ts.Name()+": "+spec.Name)
			continue
		}
		spec.Schema = canonical(spec.Schema, !ours)
		shape, _ := decodeJSON(spec.Schema).(map[string]any)
		s.tools = append(s.tools, member{spec: spec, shape: shape, tool: t, toolset: ts.Name()})
	}
}

// Specs lists the tools as a model is told of them, sorted by name, with
// canonical schemas: the same tools give the same bytes.
func (s *Set) Specs() []hermes.Spec {
	specs := make([]hermes.Spec, len(s.tools))
	for i, m := range s.tools {
		specs[i] = m.spec
	}
	return specs
}

// Names lists the tools, sorted.
func (s *Set) Names() []string {
	names := make([]string, len(s.tools))
	for i, m := range s.tools {
		names[i] = m.spec.Name
	}
	return names
}

// Toolset names the toolset that a tool came from, "" if there is no such tool.
func (s *Set) Toolset(tool string) string {
	m, _ := s.member(tool)
	return m.toolset
}

// member finds a tool by name, also by its newer or older one.
func (s *Set) member(name string) (member, bool) {
	for _, m := range s.tools {
		if m.spec.Name == name || m.spec.Name == aliased(name) || aliased(m.spec.Name) == name {
			return m, true
		}
	}
	return member{}, false
}

// State is how a toolset stands, for lists that a person reads.
type State struct {
	Name  string
	Tools []string // sorted
	// Off is empty, or why the toolset cannot be used now.
	Off string
}

// States lists the toolsets that this program has, in their order.
func (c *Catalogue) States(ctx context.Context) []State {
	var states []State
	for place, ts := range c.sets {
		st := State{Name: ts.Name(), Off: c.available(ctx, place)}
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
