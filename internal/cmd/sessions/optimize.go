package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes"
)

// OptimizeOptions are the wishes of `sessions optimize`.
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
		Use:   "optimize",
		Short: "Tidy the search index and give free room back to the disk",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
}

// optimizer is a store that has something to tidy.
type optimizer interface {
	Optimize(ctx context.Context) error
}

func runOptimize(ctx context.Context, o *OptimizeOptions) error {
	return o.with(ctx, func(s hermes.Store) error {
		tidy, ok := s.(optimizer)
		if !ok {
			return errors.New("this store has nothing to tidy")
		}
		before, err := s.Stats(ctx)
		if err != nil {
			return err
		}
		if err := tidy.Optimize(ctx); err != nil {
			return err
		}
		after, err := s.Stats(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Out, "On disk: %s before, %s now.\n", size(before.FileBytes), size(after.FileBytes))
		return nil
	})
}

// NewRepairCmd makes the verb that saves what can be read of a damaged
// database.
func NewRepairCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use:   "repair",
		Short: "Save what can be read of a damaged database; the damaged file is kept",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := d.Repair(cmd.Context())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "Saved %s with %s.\n", plural(r.Sessions, "session"), plural(r.Messages, "message"))
			if r.Lost > 0 {
				fmt.Fprintf(out, "%s could not be read.\n", plural(r.Lost, "place"))
			}
			fmt.Fprintf(out, "The old file is kept as %s.\n", r.Kept)
			return nil
		},
	}
}
