// Package toolset decides which tools a session has.
//
// table.go is the static table of toolsets, composites and platform presets. A
// [Catalogue] joins it with the toolsets that this program has, and its Select makes a
// fixed [Set] for a session. The package runs no tool: see package toolbox.
package toolset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/lru"

	"hermes"
)

// availableFor is how long the result of a toolset's check is cached.
const availableFor = 30 * time.Second

// Catalogue joins the table of toolset names with the toolsets that this
// program has. It serves all sessions and may be used concurrently.
type Catalogue struct {
	sets   []hermes.Toolset
	more   Growing // nil if there are none
	custom map[string]Custom
	now    func() time.Time

	mu     sync.Mutex
	checks map[int]check // by index in sets
	// schemas are those that were read, so that the sessions of a program share them.
	schemas *lru.Map[schemaKey, readSchema]
}

// maxSchemas bounds how many schemas are remembered: those of some large plugins. Tools of MCP servers
// have their own, see [CanonicalTool].
const maxSchemas = 1024

type check struct {
	why string
	at  time.Time
}

// NewCatalogue returns a catalogue of sets, in order: if two have a tool of the
// same name, the first is used. now is the clock; nil means time.Now.
func NewCatalogue(sets []hermes.Toolset, custom map[string]Custom, now func() time.Time) *Catalogue {
	if now == nil {
		now = time.Now
	}
	return &Catalogue{sets: sets, custom: custom, now: now, checks: map[int]check{}, schemas: lru.New[schemaKey, readSchema](maxSchemas)}
}

// Growing are toolsets that come and go while sessions run. All of them are deferrable.
type Growing interface {
	// Toolsets returns those that are there now, and a number that changes when they do. It may
	// be called concurrently.
	Toolsets() (sets []hermes.Toolset, generation int)
}

// Join adds toolsets that come and go. It is called before the catalogue is used, and returns it.
func (c *Catalogue) Join(more Growing) *Catalogue {
	c.more = more
	return c
}

// all returns the toolsets that are there now: those that stay first.
func (c *Catalogue) all() []hermes.Toolset {
	sets, _ := c.grown()
	return sets
}

// grown returns the toolsets that are there now, and the number of their state.
func (c *Catalogue) grown() ([]hermes.Toolset, int) {
	if c.more == nil {
		return c.sets, 0
	}
	more, generation := c.more.Toolsets()
	return append(c.sets[:len(c.sets):len(c.sets)], more...), generation
}

// available returns why a toolset, which is at an index of all, cannot be used, "" if it can. For
// those that stay, the answer is cached until the toolset reports a change. A check that panics
// counts as failed.
func (c *Catalogue) available(ctx context.Context, place int, ts hermes.Toolset) string {
	if place >= len(c.sets) {
		return ask(ctx, ts)
	}
	now := c.now()
	last, known := c.checked(place)
	if known && now.Sub(last.at) < availableFor {
		return last.why
	}
	why := ask(ctx, c.sets[place])
	c.mu.Lock()
	c.checks[place] = check{why: why, at: now}
	c.mu.Unlock()
	return why
}

// checked returns the cached check of a toolset. One that reports a change has none.
func (c *Catalogue) checked(place int) (last check, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set, ok := c.sets[place].(hermes.Changer); ok {
		select {
		case <-set.Changes():
			delete(c.checks, place)
		default:
		}
	}
	last, known = c.checks[place]
	return last, known
}

func ask(ctx context.Context, s hermes.Toolset) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprintf("its check failed: %v", p)
		}
	}()
	return s.Available(ctx)
}

// Names lists every toolset that can be enabled, sorted: those of the table,
// the user's own, and the other toolsets of this program.
func (c *Catalogue) Names() []string {
	var names []string
	for _, r := range table {
		names = append(names, r.name)
	}
	for _, platform := range likeCLI {
		names = append(names, "hermes-"+platform)
	}
	for name := range c.custom {
		names = append(names, name)
	}
	for _, s := range c.all() {
		names = append(names, s.Name())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Expand lists the tools of the named toolsets, sorted, whether this program has
// them or not, and the unknown names. Includes are followed and may be circular.
// all and * mean everything except toolsets that must be enabled by name.
func (c *Catalogue) Expand(ctx context.Context, names ...string) (tools, unknown []string) {
	e := c.expand(ctx, names)
	for tool := range e.tools {
		tools = append(tools, tool)
	}
	slices.Sort(tools)
	return tools, e.unknown
}

func (c *Catalogue) expand(ctx context.Context, names []string) expanded {
	e := expansion{expanded: expanded{tools: map[string]bool{}, whole: map[string]bool{}}, ctx: ctx, catalogue: c, seen: map[string]bool{}}
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" && !e.add(name) {
			e.unknown = append(e.unknown, name)
		}
	}
	return e.expanded
}

// expandDisabled is expand for names that are to be removed. A name that is a tool as
// well as an old name of a larger toolset means the tool: no more is removed than was
// named.
func (c *Catalogue) expandDisabled(ctx context.Context, names []string) expanded {
	var rest, tools []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if tool := Canonical(name); renamed(tool) != tool && inTable(tool) {
			tools = append(tools, tool)
			continue
		}
		rest = append(rest, name)
	}
	e := c.expand(ctx, rest)
	for _, tool := range tools {
		e.tools[tool] = true
	}
	return e
}

// inTable reports whether a toolset of the table has this tool.
func inTable(tool string) bool {
	return slices.ContainsFunc(table, func(r row) bool { return slices.Contains(r.tools, tool) })
}

// expanded is what names stand for.
type expanded struct {
	tools   map[string]bool
	whole   map[string]bool // toolsets of this program that are named as a whole
	unknown []string
}

type expansion struct {
	expanded
	ctx       context.Context // of the one Expand it lives in
	catalogue *Catalogue
	seen      map[string]bool // toolsets in progress or done
	all       map[string]bool // the tools of this program; nil until they are needed
}

// add adds the tools of a name and reports whether the name is known.
func (e *expansion) add(name string) bool {
	if name == "all" || name == "*" {
		e.everything()
		return true
	}
	name = renamed(name)
	if e.seen[name] {
		return true
	}
	e.seen[name] = true
	known := e.table(name)
	if own, ok := e.catalogue.custom[name]; ok {
		known = true
		e.row(own.Tools, own.Includes)
	}
	if e.running(name) {
		known = true
	}
	return known || e.tool(name)
}

func (e *expansion) table(name string) bool {
	r, ok := find(name)
	if !ok {
		return false
	}
	e.row(r.tools, r.includes)
	return true
}

func (e *expansion) row(tools, includes []string) {
	for _, t := range tools {
		e.tools[Canonical(t)] = true
	}
	for _, name := range includes {
		if name = strings.TrimSpace(name); name != "" && !e.add(name) {
			e.unknown = append(e.unknown, name) // a server of that name may come later
		}
	}
}

// running adds the tools of this program's toolsets of that name; the bare name
// of a server means its mcp- toolset.
func (e *expansion) running(name string) bool {
	known := false
	for _, s := range e.catalogue.all() {
		if s.Name() == name || s.Name() == "mcp-"+name {
			known, e.whole[s.Name()] = true, true
			for _, t := range e.catalogue.toolsOf(e.ctx, s) {
				e.tools[Canonical(t.Spec().Name)] = true
			}
		}
	}
	return known
}

// tool adds a single tool that is named instead of a toolset.
func (e *expansion) tool(name string) bool {
	name = Canonical(name)
	for _, r := range table {
		if slices.Contains(r.tools, name) {
			e.tools[name] = true
			return true
		}
	}
	if e.all == nil {
		e.all = map[string]bool{}
		for _, s := range e.catalogue.all() {
			for _, t := range e.catalogue.toolsOf(e.ctx, s) {
				e.all[Canonical(t.Spec().Name)] = true
			}
		}
	}
	if e.all[name] {
		e.tools[name] = true
	}
	return e.all[name]
}

func (e *expansion) everything() {
	for _, r := range table {
		if !r.optIn {
			e.row(r.tools, nil)
		}
	}
	for name := range e.catalogue.custom {
		e.add(name)
	}
	for _, s := range e.catalogue.all() {
		if r, ok := find(s.Name()); !ok || !r.optIn {
			e.running(s.Name())
		}
	}
}

// toolsOf lists a toolset's tools, also those that came late; none if listing fails: Select
// reports why.
func (c *Catalogue) toolsOf(ctx context.Context, s hermes.Toolset) []hermes.Tool {
	tools, _ := list(ctx, s)
	if d, ok := s.(hermes.Deferrable); ok {
		now, _ := live(d)
		tools = append(tools[:len(tools):len(tools)], now...)
	}
	return tools
}

func list(ctx context.Context, s hermes.Toolset) (tools []hermes.Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			tools, err = nil, fmt.Errorf("listing its tools failed: %v", p)
		}
	}()
	return s.Tools(ctx)
}
