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
	"hermes/internal/session"
	"hermes/internal/text"
)

// BranchOptions are the options of `hermes sessions branch`.
type BranchOptions struct {
	base
	Out        io.Writer
	Ref, Title string
}

// NewBranchCmd makes the verb; runF replaces its work in tests.
func NewBranchCmd(f *factory.Factory, runF func(context.Context, *BranchOptions) error) *cobra.Command {
	o := &BranchOptions{base: base{f}}
	if runF == nil {
		runF = runBranch
	}
	return &cobra.Command{
		Use:     "branch ID|TITLE|latest [NEW TITLE…]",
		Aliases: []string{"fork"},
		Short:   "Copy a session to continue it in another direction",
		Example: "  hermes sessions branch latest \"try another way\"",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Ref, o.Title = cmd.OutOrStdout(), args[0], strings.Join(args[1:], " ")
			return runF(cmd.Context(), o)
		},
	}
}

func runBranch(ctx context.Context, o *BranchOptions) error {
	return o.with(ctx, func(s hermes.Store) error {
		from, err := o.resolve(ctx, s, o.Ref)
		if err != nil {
			return err
		}
		row, err := session.Branch(ctx, s, o.Now(), from.ID, o.Title)
		if errors.Is(err, hermes.ErrTitleTaken) {
			return fmt.Errorf("another session already has the title %q; choose another, such as %q: %w", o.Title, hermes.NextTitle(o.Title), err)
		}
		if err != nil {
			return err
		}
		called := row.ID
		if row.Title != "" {
			called += fmt.Sprintf(" %q", o.Shown(row.Title))
		}
		fmt.Fprintf(o.Out, "Created %s with %s. Continue it with: hermes --resume %s\n", called, text.Plural(row.Messages, "message", "messages"), row.ID)
		return nil
	})
}
