package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
)

// RenameOptions are the options of `hermes sessions rename`.
type RenameOptions struct {
	base
	Out        io.Writer
	Ref, Title string
}

// NewRenameCmd makes the verb; runF replaces its work in tests.
func NewRenameCmd(f *factory.Factory, runF func(context.Context, *RenameOptions) error) *cobra.Command {
	o := &RenameOptions{base: base{f}}
	if runF == nil {
		runF = runRename
	}
	return &cobra.Command{
		Use:     "rename ID|TITLE|latest NEW TITLE…",
		Short:   "Rename a session",
		Example: "  hermes sessions rename latest \"fix the build\"",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Ref, o.Title = cmd.OutOrStdout(), args[0], strings.Join(args[1:], " ")
			return runF(cmd.Context(), o)
		},
	}
}

func runRename(ctx context.Context, o *RenameOptions) error {
	title, err := hermes.CleanTitle(o.Title)
	if err != nil {
		return err
	}
	return o.with(ctx, func(s hermes.Store) error {
		row, err := o.resolve(ctx, s, o.Ref)
		if err != nil {
			return err
		}
		err = s.UpdateSession(ctx, row.ID, hermes.SessionChange{Title: &title})
		if errors.Is(err, hermes.ErrTitleTaken) {
			return fmt.Errorf("another session already has the title %q; choose another, such as %q: %w", title, hermes.NextTitle(title), err)
		}
		if err != nil {
			return err
		}
		if title == "" {
			fmt.Fprintf(o.Out, "%s has no title now.\n", row.ID)
			return nil
		}
		fmt.Fprintf(o.Out, "%s is now %q.\n", row.ID, title)
		return nil
	})
}

// marked says what each verb makes of a session.
var marked = map[string]string{
	"pin": "pinned", "unpin": "no longer pinned", "archive": "archived", "unarchive": "no longer archived",
}

// newMarkCmd makes a verb that sets one mark on sessions.
func newMarkCmd(f *factory.Factory, verb, short string, change hermes.SessionChange) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " ID|TITLE|latest…",
		Short:   short,
		Example: "  hermes sessions " + verb + " latest",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return base{f}.with(cmd.Context(), func(s hermes.Store) error {
				for _, ref := range args {
					row, err := base{f}.resolve(cmd.Context(), s, ref)
					if err != nil {
						return err
					}
					if err := s.UpdateSession(cmd.Context(), row.ID, change); err != nil {
						return err
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s is %s.\n", row.ID, marked[verb])
				}
				return nil
			})
		},
	}
}
