package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/memory"
)

func newListCmd(n noun) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list [memory|user]", Short: "List entries and where they come from", Args: cobra.MaximumNArgs(1), Example: "  hermes memory list user",
		RunE: func(cmd *cobra.Command, args []string) error { return list(n, cmd.OutOrStdout(), args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func list(n noun, out io.Writer, args []string, asJSON bool) error {
	targets := memory.Targets()
	if len(args) > 0 {
		t, err := memory.ParseTarget(args[0])
		if err != nil {
			return err
		}
		targets = []memory.Target{t}
	}
	b, err := n.file()
	if err != nil {
		return err
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
		return factory.WriteJSON(out, states)
	}
	for _, s := range states {
		fmt.Fprintf(out, "%s [%s]\n", s.Target, s.Usage())
		for _, e := range s.Entries {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(printable(e.Text), "\n", "\n  "))
			note := e.Origin.String()
			if threat := memory.Scan(e.Text); threat != "" {
				note += "; looks like " + string(threat) + ", so it is masked or left out of prompts"
			}
			fmt.Fprintf(out, "    (%s)\n", note)
		}
	}
	return nil
}

// printable replaces control characters, so that an entry cannot steer the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return '�'
		}
		return r
	}, text)
}

// changeByUser changes a target as the user, without approval.
func changeByUser(ctx context.Context, n noun, out io.Writer, target string, o memory.Operation) error {
	t, err := memory.ParseTarget(target)
	if err != nil {
		return err
	}
	b, err := n.file()
	if err != nil {
		return err
	}
	s, err := b.Change(ctx, t, []memory.Operation{o}, memory.Origin{By: "person"})
	if refused, ok := errors.AsType[*memory.Refused](err); ok && refused.Full {
		return fmt.Errorf("not stored: %s is full (%s). Shorten or remove an entry first; list them with `hermes memory list`", t, refused.State.Usage())
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s [%s]\n", strings.Join(s.Notes, "; "), s.Usage())
	return nil
}

const targetHelp = "memory to change: memory (notes) or user (about you)"

func newAddCmd(n noun) *cobra.Command {
	var target string
	cmd := &cobra.Command{
		Use: "add TEXT", Short: "Add an entry", Args: cobra.MinimumNArgs(1), Example: "  hermes memory add \"uses uv, not pip\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeByUser(cmd.Context(), n, cmd.OutOrStdout(), target, memory.Operation{Action: "add", Content: strings.Join(args, " ")})
		},
	}
	cmd.Flags().StringVar(&target, "target", "memory", targetHelp)
	return cmd
}

func newReplaceCmd(n noun) *cobra.Command {
	var target string
	cmd := &cobra.Command{
		Use: "replace OLD NEW", Short: "Replace the entry that contains OLD", Args: cobra.ExactArgs(2), Example: "  hermes memory replace \"uses uv\" \"uses pixi\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeByUser(cmd.Context(), n, cmd.OutOrStdout(), target, memory.Operation{Action: "replace", OldText: args[0], Content: args[1]})
		},
	}
	cmd.Flags().StringVar(&target, "target", "memory", targetHelp)
	return cmd
}

func newRemoveCmd(n noun) *cobra.Command {
	var target string
	cmd := &cobra.Command{
		Use: "remove TEXT", Short: "Remove the entry that contains TEXT", Args: cobra.MinimumNArgs(1), Example: "  hermes memory remove \"uses uv\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeByUser(cmd.Context(), n, cmd.OutOrStdout(), target, memory.Operation{Action: "remove", OldText: strings.Join(args, " ")})
		},
	}
	cmd.Flags().StringVar(&target, "target", "memory", targetHelp)
	return cmd
}
