package sessions

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// OptimizeOptions are the options of `hermes sessions optimize`.
type OptimizeOptions struct {
	base
	Out io.Writer
}

// NewOptimizeCmd makes the verb; runF replaces its work in tests.
func NewOptimizeCmd(f *factory.Factory, runF func(context.Context, *OptimizeOptions) error) *cobra.Command {
	o := &OptimizeOptions{base: base{f}}
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

func runOptimize(ctx context.Context, o *OptimizeOptions) error {
	s, err := o.Store(ctx)
	if err != nil {
		return err
	}
	before, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	if err := s.Optimize(ctx); err != nil {
		return err
	}
	after, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Size on disk: %s before, %s now.\n", size(before.FileBytes), size(after.FileBytes))
	return nil
}

// NewRepairCmd makes the verb that recovers what can be read of a damaged
// database.
func NewRepairCmd(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "repair",
		Short:   "Recover sessions from a damaged database",
		Example: "  hermes sessions repair",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.Repair(cmd.Context())
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
