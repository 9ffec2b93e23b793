// Package sessions is the command `hermes sessions`: looking at what is
// stored, finding in it, taking it out, cleaning up.
//
// Each verb is a file with its options, a constructor that fills them from the
// command line, and a run function that does the work on a [hermes.Store]. The
// package does not know which store that is nor where it lies: [Deps] opens it
// when a verb runs, and not before. Start with list.go; resolve.go says what
// may stand for a session.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hermes"
)

// Deps is what the verbs work with. Open is needed; nil for the others gives
// the defaults named there.
type Deps struct {
	// Open opens the store; the verb closes it.
	Open func(ctx context.Context) (hermes.Store, error)
	// Repair saves what can be read of a damaged database; without it there is
	// no such verb.
	Repair func(ctx context.Context) (Repaired, error)
	// Terminal tells whether the person can be asked; nil is never.
	Terminal func() bool
	// Dir is the working folder; empty is what the path "." says.
	Dir string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Repaired is what a repair saved.
type Repaired struct {
	Sessions, Messages int
	Lost               int    // stretches that could not be read
	Kept               string // where the damaged file is now
}

func (d Deps) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}

// NewCmd is the noun with all its verbs.
func NewCmd(d Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, search, export and tidy conversations",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		NewListCmd(d, nil),
		NewShowCmd(d, nil),
		NewSearchCmd(d, nil),
		NewExportCmd(d, nil),
		NewBranchCmd(d, nil),
		NewRenameCmd(d, nil),
		NewImportCmd(d, nil),
		NewDeleteCmd(d, nil),
		newMarkCmd(d, "pin", "Keep a session from being pruned", hermes.SessionChange{Pinned: new(true)}),
		newMarkCmd(d, "unpin", "Let a session be pruned again", hermes.SessionChange{Pinned: new(false)}),
		newMarkCmd(d, "archive", "Leave a session out of lists", hermes.SessionChange{Archived: new(true)}),
		newMarkCmd(d, "unarchive", "Show a session in lists again", hermes.SessionChange{Archived: new(false)}),
		NewStatsCmd(d, nil),
		NewPruneCmd(d, nil),
		NewOptimizeCmd(d, nil),
	)
	if d.Repair != nil {
		cmd.AddCommand(NewRepairCmd(d))
	}
	return cmd
}

// with opens the store for the time of a func.
func (d Deps) with(ctx context.Context, run func(hermes.Store) error) error {
	s, err := d.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(run(s), s.Close())
}

// confirm asks before something that cannot be undone. Without a terminal the
// answer is no: the person must say --yes.
func (d Deps) confirm(in io.Reader, out io.Writer, question string) error {
	if d.Terminal == nil || !d.Terminal() {
		return fmt.Errorf("%s Say --yes to do it without being asked", question)
	}
	fmt.Fprintf(out, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(in, &answer) // no answer is a no
	if answer != "y" && answer != "Y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
