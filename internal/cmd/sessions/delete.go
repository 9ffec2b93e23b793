package sessions

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// deleteOptions are the options of `hermes sessions delete`.
type deleteOptions struct {
	base
	Yes bool
}

func newDelete(f *factory.Factory) *cobra.Command {
	o := &deleteOptions{base: base{Factory: f}}
	cmd := o.verb("delete ID|TITLE|latest…", "Delete sessions permanently", "hermes sessions delete 20261120_101500_a1b2c3", cobra.MinimumNArgs(1), o.run)
	cmd.Aliases = []string{"rm"}
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

// run finds all sessions before it removes the first.
func (o *deleteOptions) run(ctx context.Context) error {
	return o.with(ctx, func(s hermes.Store) error {
		var rows []hermes.Session
		messages := 0
		for _, ref := range o.Args {
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
