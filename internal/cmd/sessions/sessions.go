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

// base is the factory with ways to find sessions.
type base struct{ *factory.Factory }

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
		NewListCmd(f, nil),
		NewShowCmd(f, nil),
		NewSearchCmd(f, nil),
		NewExportCmd(f, nil),
		NewBranchCmd(f, nil),
		NewRenameCmd(f, nil),
		NewImportCmd(f, nil),
		NewDeleteCmd(f, nil),
		newMarkCmd(f, "pin", "Protect sessions from pruning", hermes.SessionChange{Pinned: new(true)}),
		newMarkCmd(f, "unpin", "Allow sessions to be pruned again", hermes.SessionChange{Pinned: new(false)}),
		newMarkCmd(f, "archive", "Hide sessions from lists", hermes.SessionChange{Archived: new(true)}),
		newMarkCmd(f, "unarchive", "Show archived sessions in lists again", hermes.SessionChange{Archived: new(false)}),
		NewStatsCmd(f, nil),
		NewPruneCmd(f, nil),
		NewOptimizeCmd(f, nil),
		NewRepairCmd(f),
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
