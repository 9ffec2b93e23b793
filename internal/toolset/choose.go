package toolset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// Defaults are the toolsets of runs that name none.
type Defaults struct {
	Platforms map[string][]string // by platform; these come first
	Always    []string
	Disabled  []string // never selected
}

// Choose returns which toolsets a run gets: those that it names, else those of its platform, else
// those of all.
func Choose(run hermes.RunSpec, d Defaults) Selection {
	s := Selection{
		Enabled: run.Tools.Enabled, Disabled: slices.Concat(d.Disabled, run.Tools.Disabled), Only: run.Tools.Only,
		Platform: Preset(run.Origin.Platform), Offer: run.Tools.Enabled,
	}
	if run.Prompt.IgnoreRules {
		s.Disabled = append(s.Disabled, "memory")
	}
	if len(s.Enabled) == 0 {
		s.Enabled = d.Platforms[s.Platform]
	}
	if len(s.Enabled) == 0 {
		s.Enabled = d.Always
	}
	return s
}

// Preset returns the platform whose toolsets a session gets: those of the chat for a question
// on the command line and for a child, whose parent narrows them.
func Preset(platform string) string {
	switch platform {
	case "", "oneshot", "demo", "subagent":
		return "cli"
	}
	return platform
}

// Known reports whether a toolset or tool has a name, and lists all names.
func (c *Catalogue) Known(name string) (known bool, names []string) {
	if names = c.Names(); slices.Contains(names, name) { // without loading any tools
		return true, names
	}
	_, unknown := c.Expand(context.Background(), name)
	tools, _ := c.Expand(context.Background(), "all")
	return len(unknown) == 0, append(names, tools...)
}

// Narrowing refuses toolsets that a child session is to have if one is unknown, or if they have
// none of the tools of its parent. The error lists what there is, for a model.
func (c *Catalogue) Narrowing(ctx context.Context, names, tools []string) error {
	parents := func(list []string) bool {
		return slices.ContainsFunc(list, func(t string) bool { return slices.Contains(tools, t) })
	}
	found, unknown := c.Expand(ctx, names...)
	if len(unknown) == 0 && parents(found) {
		return nil
	}
	var there []string
	for _, s := range c.all() {
		if list, _ := c.Expand(ctx, s.Name()); parents(list) {
			there = append(there, s.Name())
		}
	}
	slices.Sort(there)
	use := "; use any of these: " + strings.Join(slices.Compact(there), ", ")
	if len(unknown) > 0 {
		return fmt.Errorf("there is no toolset %s%s", strings.Join(unknown, " and no "), use)
	}
	return fmt.Errorf("this session has no tool of %s%s", strings.Join(names, " or "), use)
}

// All returns the specs of all tools, as they are offered; none if ctx has ended.
func (c *Catalogue) All(ctx context.Context) []hermes.Spec {
	set, err := c.Select(ctx, Selection{Enabled: c.Names(), Offer: c.Names()})
	if err != nil {
		return nil
	}
	return set.Specs()
}

// Has returns whether a session with these tools has one of a toolset of the table.
func Has(ctx context.Context, tools []string) func(toolset string) bool {
	table := NewCatalogue(nil, nil, nil)
	return func(toolset string) bool {
		list, _ := table.Expand(ctx, toolset)
		return slices.ContainsFunc(list, func(t string) bool { return slices.Contains(tools, t) })
	}
}
