package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/text"
)

// OptimizeOptions are the options of `hermes sessions optimize`.
type OptimizeOptions struct {
	Deps
	Out io.Writer
}

// NewOptimizeCmd makes the verb; runF replaces its work in tests.
func NewOptimizeCmd(d Deps, runF func(context.Context, *OptimizeOptions) error) *cobra.Command {
	o := &OptimizeOptions{Deps: d}
	if runF == nil {
		runF = runOptimize
	}
	return &cobra.Command{
		Use:     "optimize",
		Short:   "Optimize the search index and free disk space",
		Example: "  hermes sessions optimize",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
}

// optimizer is a store that can be optimized.
type optimizer interface {
	Optimize(ctx context.Context) error
}

func runOptimize(ctx context.Context, o *OptimizeOptions) error {
	return o.with(ctx, func(s hermes.Store) error {
		db, ok := s.(optimizer)
		if !ok {
			return errors.New("this store cannot be optimized")
		}
		before, err := s.Stats(ctx)
		if err != nil {
			return err
		}
		if err := db.Optimize(ctx); err != nil {
			return err
		}
		after, err := s.Stats(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Out, "Size on disk: %s before, %s now.\n", size(before.FileBytes), size(after.FileBytes))
		return nil
	})
}

// NewRepairCmd makes the verb that recovers what can be read of a damaged
// database.
func NewRepairCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use:     "repair",
		Short:   "Recover sessions from a damaged database",
		Example: "  hermes sessions repair",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := d.Repair(cmd.Context())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "Recovered %s with %s.\n", text.Plural(r.Sessions, "session", "sessions"), text.Plural(r.Messages, "message", "messages"))
			if r.Lost > 0 {
				fmt.Fprintf(out, "%s of the damaged file could not be read.\n", text.Plural(r.Lost, "part", "parts"))
			}
			switch {
			case r.FromBackup > 0:
				fmt.Fprintf(out, "%d of the messages %s from the backup %s. Only what was in these parts and is newer may be missing.\n", r.FromBackup, word(r.FromBackup, "is", "are"), r.Backup)
			case r.Lost > 0 && r.Backup != "":
				fmt.Fprintf(out, "The backup %s has no more messages. Only what was in these parts and is newer may be missing.\n", r.Backup)
			case r.Lost > 0:
				fmt.Fprintln(out, "There is no backup to take more from.")
			}
			fmt.Fprintf(out, "The damaged file is kept as %s.\n", r.Kept)
			return nil
		},
	}
}
