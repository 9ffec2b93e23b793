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
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/toolset"
)

// Open returns the toolsets of this program and the selection of a session on a
// platform.
type Open func(platform string) (Opened, error)

// noun makes the verbs.
type noun struct {
	*factory.Factory
	open Open
}

// Opened is what Open returns.
type Opened struct {
	Catalogue *toolset.Catalogue
	Selection toolset.Selection
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
	list := NewListCmd(n, nil)
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "List toolsets and turn them on or off",
		Example: "  hermes tools\n  hermes tools disable terminal --platform telegram",
		Args:    cobra.NoArgs,
		RunE:    list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, NewEnableCmd(n, nil), NewDisableCmd(n, nil))
	return cmd
}

// ListOptions are the flags of `tools list`.
type ListOptions struct {
	noun
	Out      io.Writer
	Platform string
	Summary  bool
}

// NewListCmd makes `tools list`; tests replace its work with runF.
func NewListCmd(n noun, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{noun: n}
	if runF == nil {
		runF = runList
	}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List toolsets: ✓ on, – off, ✗ not available", Args: cobra.NoArgs,
		Example: "  hermes tools list --platform telegram",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Platform, "platform", cli, "platform of the session (cli, telegram, …)")
	cmd.Flags().BoolVar(&o.Summary, "summary", false, "print only a summary")
	return cmd
}

func runList(ctx context.Context, o *ListOptions) error {
	opened, err := o.open(o.Platform)
	if err != nil {
		return err
	}
	set, err := opened.Catalogue.Select(ctx, opened.Selection)
	if err != nil {
		return err
	}
	states := opened.Catalogue.States(ctx)
	if o.Summary {
		return o.summary(states, set)
	}
	for _, s := range states {
		on := selected(set, s.Name)
		switch {
		case s.Off != "":
			fmt.Fprintf(o.Out, "✗ %-16s %s\n", s.Name, s.Off)
		case len(on) == 0:
			fmt.Fprintf(o.Out, "– %-16s %s\n", s.Name, strings.Join(s.Tools, ", "))
		default:
			fmt.Fprintf(o.Out, "✓ %-16s %s\n", s.Name, strings.Join(on, ", "))
		}
	}
	for _, name := range set.Unknown {
		fmt.Fprintf(o.Out, "? %-16s is in the settings, but no toolset or tool has this name\n", name)
	}
	return nil
}

func (o *ListOptions) summary(states []toolset.State, set *toolset.Set) error {
	on, off := 0, 0
	for _, s := range states {
		switch {
		case s.Off != "":
			off++
		case len(selected(set, s.Name)) > 0:
			on++
		}
	}
	fmt.Fprintf(o.Out, "%s: %d of %d toolsets are on (tools: %d, not available: %d).\n",
		o.Platform, on, len(states), len(set.Names()), off)
	return nil
}

// selected lists the tools of a toolset that the set contains.
func selected(set *toolset.Set, toolset string) []string {
	return slices.DeleteFunc(set.Names(), func(tool string) bool { return set.Toolset(tool) != toolset })
}
