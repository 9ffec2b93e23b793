package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/session"
	"hermes/internal/text"
)

func newBranch(f *factory.Factory) *cobra.Command {
	o := &base{Factory: f}
	cmd := o.verb("branch ID|TITLE|latest [NEW TITLE…]", "Copy a session to continue it in another direction", "hermes sessions branch latest \"try another way\"", cobra.MinimumNArgs(1), o.branch)
	cmd.Aliases = []string{"fork"}
	return cmd
}

func (o *base) branch(ctx context.Context) error {
	title := strings.Join(o.Args[1:], " ")
	return o.with(ctx, func(s hermes.Store) error {
		from, err := o.resolve(ctx, s, o.Args[0])
		if err != nil {
			return err
		}
		row, err := session.Branch(ctx, s, o.Now(), from.ID, title)
		if err != nil {
			return titleError(title, err)
		}
		called := row.ID
		if row.Title != "" {
			called += fmt.Sprintf(" %q", o.Shown(row.Title))
		}
		fmt.Fprintf(o.Out, "Created %s with %s. Continue it with: hermes --resume %s\n", called, text.Plural(row.Messages, "message", "messages"), row.ID)
		return nil
	})
}
