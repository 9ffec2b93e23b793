package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/memory"
	"hermes/internal/memory/scan"
)

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := factory.VerbOn(n.file, "list [memory|user]", "List entries and where they come from", "hermes memory list user", cobra.MaximumNArgs(1), func(_ context.Context, c *factory.Call, b *memory.File) error {
		targets := memory.Targets()
		if len(c.Args) > 0 {
			t, err := memory.ParseTarget(c.Args[0])
			if err != nil {
				return err
			}
			targets = []memory.Target{t}
		}
		var states []memory.State
		for _, t := range targets {
			s, err := b.Read(t)
			if err != nil {
				return err
			}
			states = append(states, s)
		}
		if asJSON {
			return factory.WriteJSON(c.Out, states)
		}
		for _, s := range states {
			c.Say("%s [%s]", s.Target, s.Usage())
			for _, e := range s.Entries {
				note := e.Origin.String()
				if threat := scan.Text(e.Text); threat != "" {
					note += "; looks like " + string(threat) + ", so it is masked or left out of prompts"
				}
				c.Say("  %s\n    (%s)", strings.ReplaceAll(markup.Visible(e.Text), "\n", "\n  "), note)
			}
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// change makes a verb that changes a target as the user, without approval.
func (n noun) change(use, short, example string, args cobra.PositionalArgs, of func(args []string) memory.Operation) *cobra.Command {
	var target string
	cmd := factory.VerbOn(n.file, use, short, example, args, func(ctx context.Context, c *factory.Call, b *memory.File) error {
		t, err := memory.ParseTarget(target)
		if err != nil {
			return err
		}
		s, err := b.Change(ctx, t, []memory.Operation{of(c.Args)}, memory.Origin{By: "person"})
		if refused, ok := errors.AsType[*memory.Refused](err); ok && refused.Full {
			return fmt.Errorf("not stored: %s is full (%s). Shorten or remove an entry first; list them with `hermes memory list`", t, refused.State.Usage())
		}
		if err == nil {
			c.Say("%s [%s]", strings.Join(s.Notes, "; "), s.Usage())
		}
		return err
	})
	cmd.Flags().StringVar(&target, "target", "memory", "memory to change: memory (notes) or user (about you)")
	return cmd
}

func (n noun) add() *cobra.Command {
	return n.change("add TEXT", "Add an entry", "hermes memory add \"uses uv, not pip\"", cobra.MinimumNArgs(1), func(args []string) memory.Operation {
		return memory.Operation{Action: "add", Content: strings.Join(args, " ")}
	})
}

func (n noun) replace() *cobra.Command {
	return n.change("replace OLD NEW", "Replace the entry that contains OLD", "hermes memory replace \"uses uv\" \"uses pixi\"", cobra.ExactArgs(2), func(args []string) memory.Operation {
		return memory.Operation{Action: "replace", OldText: args[0], Content: args[1]}
	})
}

func (n noun) remove() *cobra.Command {
	return n.change("remove TEXT", "Remove the entry that contains TEXT", "hermes memory remove \"uses uv\"", cobra.MinimumNArgs(1), func(args []string) memory.Operation {
		return memory.Operation{Action: "remove", OldText: strings.Join(args, " ")}
	})
}
