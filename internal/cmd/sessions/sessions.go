// Package sessions holds the command `hermes sessions`: list, show, search, export,
// import and delete stored sessions.
//
// Each verb is a file with its options, a constructor that fills them from the
// command line, and a run function that works on a [hermes.Store]. The package
// does not know which store that is: [Deps] opens it only when a verb runs. Start
// with list.go; resolve.go finds a session by id, title or latest.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/store"
)

// Deps is what the verbs work with. Open is required; the other fields have
// defaults.
type Deps struct {
	// Open opens the store; the verb closes it.
	Open func(ctx context.Context) (hermes.Store, error)
	// Read opens the store for the verbs that only read, also where nothing can be written;
	// nil is Open.
	Read func(ctx context.Context) (hermes.Store, error)
	// Repair recovers what can be read of a damaged database. If nil, there is no
	// verb repair.
	Repair func(ctx context.Context) (store.Repaired, error)
	// MaxExport returns the most messages of a session that is exported, 0 for no limit; nil
	// means no limit.
	MaxExport func() (int, error)
	// Mask removes secrets from what is given away; nil masks by form only.
	// Shown does so for what the user is shown, if the settings say so; nil is Mask.
	Mask, Shown func(string) string
	// Terminal reports whether the user can be asked; nil means never.
	Terminal func() bool
	// Dir is the working folder; if empty, that of the process.
	Dir string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (d Deps) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}

// NewCmd makes `hermes sessions` with all its verbs.
func NewCmd(d Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, search, export and delete sessions",
		Example: "  hermes sessions list\n  hermes sessions search docker\n  hermes sessions show latest",
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
		newMarkCmd(d, "pin", "Protect sessions from pruning", hermes.SessionChange{Pinned: new(true)}),
		newMarkCmd(d, "unpin", "Allow sessions to be pruned again", hermes.SessionChange{Pinned: new(false)}),
		newMarkCmd(d, "archive", "Hide sessions from lists", hermes.SessionChange{Archived: new(true)}),
		newMarkCmd(d, "unarchive", "Show archived sessions in lists again", hermes.SessionChange{Archived: new(false)}),
		NewStatsCmd(d, nil),
		NewPruneCmd(d, nil),
		NewOptimizeCmd(d, nil),
	)
	if d.Repair != nil {
		cmd.AddCommand(NewRepairCmd(d))
	}
	return cmd
}

// with opens the store, calls run, and closes the store.
func (d Deps) with(ctx context.Context, run func(hermes.Store) error) error {
	s, err := d.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(run(s), s.Close())
}

// reading is with for verbs that only read.
func (d Deps) reading(ctx context.Context, run func(hermes.Store) error) error {
	if d.Read != nil {
		d.Open = d.Read
	}
	return d.with(ctx, run)
}

// confirm asks the user before something that cannot be undone. Without a terminal
// the answer is no.
func (d Deps) confirm(in io.Reader, out io.Writer, question string) error {
	if d.Terminal == nil || !d.Terminal() {
		return fmt.Errorf("%s No terminal to ask on; use --yes to confirm", question)
	}
	fmt.Fprintf(out, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(in, &answer) // no answer means no
	if answer != "y" && answer != "Y" && answer != "yes" {
		return errors.New("canceled; nothing was changed")
	}
	return nil
}
