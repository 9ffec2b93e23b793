package config

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"hermes/internal/cmd/factory"
)

// MigrateOptions are what `config migrate` works with.
type MigrateOptions struct {
	*factory.Factory
	Out io.Writer
}

// NewMigrateCmd makes `config migrate`; tests replace its work with runF.
func NewMigrateCmd(f *factory.Factory, runF func(context.Context, *MigrateOptions) error) *cobra.Command {
	o := &MigrateOptions{Factory: f}
	if runF == nil {
		runF = runMigrate
	}
	return &cobra.Command{
		Use:     "migrate",
		Short:   "Rename outdated settings in config.yaml and keep a backup",
		Example: "  hermes config migrate",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(cmd.Context(), o)
		},
	}
}

func runMigrate(ctx context.Context, o *MigrateOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	done, err := c.Migrate(ctx)
	if err != nil {
		return err
	}
	if len(done) == 0 {
		fmt.Fprintln(o.Out, "Nothing to migrate.")
		return nil
	}
	for _, change := range done {
		fmt.Fprintln(o.Out, change)
	}
	fmt.Fprintf(o.Out, "The old file is backed up in %s.\n", c.Home().Backups("config"))
	return nil
}
