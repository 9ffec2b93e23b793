package sessions

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// DeleteOptions are the options of `hermes sessions delete`.
type DeleteOptions struct {
	base
	In   io.Reader
	Out  io.Writer
	Refs []string
	Yes  bool
}

// NewDeleteCmd makes the verb; runF replaces its work in tests.
func NewDeleteCmd(f *factory.Factory, runF func(context.Context, *DeleteOptions) error) *cobra.Command {
	o := &DeleteOptions{base: base{f}}
	if runF == nil {
		runF = runDelete
	}
	cmd := &cobra.Command{
		Use:     "delete ID|TITLE|latest…",
		Aliases: []string{"rm"},
		Short:   "Delete sessions permanently",
		Example: "  hermes sessions delete 20261120_101500_a1b2c3",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.In, o.Out, o.Refs = cmd.InOrStdin(), cmd.OutOrStdout(), args
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// runDelete finds all sessions before it removes the first.
func runDelete(ctx context.Context, o *DeleteOptions) error {
	return o.with(ctx, func(s hermes.Store) error {
		var rows []hermes.Session
		messages := 0
		for _, ref := range o.Refs {
			row, err := o.resolve(ctx, s, ref)
			if err != nil {
				return err
			}
			rows = append(rows, row)
			messages += row.Messages
		}
		if !o.Yes {
			what := "Delete " + text.Plural(len(rows), "session", "sessions")
			if len(rows) == 1 {
				what = "Delete " + rows[0].ID
				if rows[0].Title != "" {
					what += fmt.Sprintf(" %q", o.Shown(rows[0].Title))
				}
			}
			if err := o.Confirm(o.In, o.Out, fmt.Sprintf("%s with %s?", what, text.Plural(messages, "message", "messages"))); err != nil {
				return err
			}
		}
		for _, row := range rows {
			if err := s.DeleteSession(ctx, row.ID); err != nil {
				return err
			}
			fmt.Fprintf(o.Out, "Deleted %s.\n", row.ID)
		}
		return nil
	})
}
