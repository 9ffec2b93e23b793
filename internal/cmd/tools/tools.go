// Package tools is the command `hermes tools`: it lists the toolsets, shows which
// of them a session gets, and turns them on and off.
//
// It writes the settings agent.disabled_toolsets, toolsets and platform_toolsets.
// It does not know how a selection is resolved; internal/toolbox does. A change
// applies to new sessions, since the tools of a running session are fixed. Start
// at NewCmd.
package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/toolset"
)

// Open returns the toolsets of this program and the selection of a session on a
// platform.
type Open func(platform string) (Opened, error)

// Opened is what Open returns.
type Opened struct {
	Catalogue *toolset.Catalogue
	Selection toolset.Selection
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	open Open
}

const cli = "cli"

// NewCmd makes `hermes tools`; without a verb it lists. open replaces the toolsets of the
// app in tests.
func NewCmd(f *factory.Factory, open Open) *cobra.Command {
	if open == nil {
		open = func(platform string) (Opened, error) {
			run, err := f.RunOn(platform)
			if err != nil {
				return Opened{}, err
			}
			c, sel, err := f.App().Toolsets(run)
			return Opened{c, sel}, err
		}
	}
	n := noun{f, open}
	list := n.list()
	cmd := factory.Noun("tools", "List toolsets and turn them on or off",
		"hermes tools\n  hermes tools disable terminal --platform telegram",
		list, n.switched("enable", "Turn on toolsets or single tools", true), n.switched("disable", "Turn off toolsets or single tools", false))
	cmd.Flags().AddFlagSet(list.Flags())
	return cmd
}

func (n noun) list() *cobra.Command {
	var platform string
	var summary bool
	cmd := factory.Verb("list", "List toolsets: ✓ on, – off, ✗ not available", "hermes tools list --platform telegram", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		opened, err := n.open(platform)
		if err != nil {
			return err
		}
		set, err := opened.Catalogue.Select(ctx, opened.Selection)
		if err != nil {
			return err
		}
		states := opened.Catalogue.States(ctx)
		var on, off int
		var lines []string
		for _, s := range states {
			mark, rest := "✓", selected(set, s.Name)
			switch {
			case s.Off != "":
				mark, rest = "✗", []string{s.Off}
				off++
			case len(rest) == 0:
				mark, rest = "–", s.Tools
			default:
				on++
			}
			lines = append(lines, fmt.Sprintf("%s %-16s %s", mark, s.Name, strings.Join(rest, ", ")))
		}
		if summary {
			c.Say("%s: %d of %d toolsets are on (tools: %d, not available: %d).", platform, on, len(states), len(set.Names()), off)
			return nil
		}
		for _, name := range slices.Concat(opened.Selection.Enabled, opened.Selection.Disabled) {
			if opened.Catalogue.Coming(name) {
				lines = append(lines, fmt.Sprintf("· %-16s is in the settings; this version does not have it", name))
			}
		}
		for _, name := range set.Unknown {
			lines = append(lines, fmt.Sprintf("? %-16s is in the settings, but no toolset or tool has this name", name))
		}
		for _, line := range lines {
			c.Say("%s", line)
		}
		return nil
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().StringVar(&platform, "platform", cli, "platform of the session (cli, telegram, …)")
	cmd.Flags().BoolVar(&summary, "summary", false, "print only a summary")
	return cmd
}

// selected lists the tools of a toolset that the set contains.
func selected(set *toolset.Set, toolset string) []string {
	return slices.DeleteFunc(set.Names(), func(tool string) bool { return set.Toolset(tool) != toolset })
}
