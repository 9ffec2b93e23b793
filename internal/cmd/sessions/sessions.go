// Package sessions holds the command `hermes sessions`: list, show, search, export,
// import and delete stored sessions.
//
// Each verb is a file with its options, a constructor that fills them from the
// command line, and a run function that works on a [hermes.Store]. The package
// does not know which store that is: the factory opens it only when a verb runs. Start
// with list.go; resolve.go finds a session by id, title or latest.
package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
)

// base is what every verb works with: the factory and, while it runs, its call.
type base struct {
	*factory.Factory
	*factory.Call
}

// verb makes a command that sets the call and runs.
func (b *base) verb(use, short, example string, args cobra.PositionalArgs, run func(context.Context) error) *cobra.Command {
	return factory.Verb(use, short, example, args, func(ctx context.Context, c *factory.Call) error {
		b.Call = c
		return run(ctx)
	})
}

// NewCmd makes `hermes sessions` with all its verbs.
func NewCmd(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, search, export and delete sessions",
		Example: "  hermes sessions list\n  hermes sessions search docker\n  hermes sessions show latest",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newList(f),
		newShow(f),
		newSearch(f),
		newExport(f),
		newBranch(f),
		newRename(f),
		newImport(f),
		newDelete(f),
		newMark(f, "pin", "Protect sessions from pruning", "pinned", hermes.SessionChange{Pinned: new(true)}),
		newMark(f, "unpin", "Allow sessions to be pruned again", "no longer pinned", hermes.SessionChange{Pinned: new(false)}),
		newMark(f, "archive", "Hide sessions from lists", "archived", hermes.SessionChange{Archived: new(true)}),
		newMark(f, "unarchive", "Show archived sessions in lists again", "no longer archived", hermes.SessionChange{Archived: new(false)}),
		newStats(f),
		newPrune(f),
		newOptimize(f),
		newRepair(f),
	)
	return cmd
}

// with opens the store and calls run.
func (b base) with(ctx context.Context, run func(hermes.Store) error) error {
	s, err := b.Store(ctx)
	if err != nil {
		return err
	}
	return run(s)
}

// reading is with for verbs that only read.
func (b base) reading(ctx context.Context, run func(hermes.Store) error) error {
	s, err := b.Reader(ctx)
	if err != nil {
		return err
	}
	return run(s)
}
