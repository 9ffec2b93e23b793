package config

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// MigrateOptions are the wishes of `config migrate`.
type MigrateOptions struct {
	Deps
	Out io.Writer
}

// NewMigrateCmd makes the verb; runF replaces its work in tests.
func NewMigrateCmd(d Deps, runF func(context.Context, *MigrateOptions) error) *cobra.Command {
	o := &MigrateOptions{Deps: d}
	if runF == nil {
		runF = runMigrate
	}
	return &cobra.Command{
		Use:   "migrate",
		Short: "Write the new names of old settings; a copy is kept",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
}

func runMigrate(ctx context.Context, o *MigrateOptions) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	done, err := c.Migrate(ctx)
	if err != nil {
		return err
	}
	if len(done) == 0 {
		fmt.Fprintln(o.Out, "Nothing is to be done.")
		return nil
	}
	for _, change := range done {
		fmt.Fprintln(o.Out, change)
	}
	fmt.Fprintf(o.Out, "A copy of the old file is in %s.\n", c.Home().Backups("config"))
	return nil
}
