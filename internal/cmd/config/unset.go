package config

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"hermes/internal/cmd/factory"
)

// UnsetOptions are the arguments of `config unset`.
type UnsetOptions struct {
	*factory.Factory
	Out io.Writer
	Key string
}

// NewUnsetCmd makes `config unset`; tests replace its work with runF.
func NewUnsetCmd(f *factory.Factory, runF func(context.Context, *UnsetOptions) error) *cobra.Command {
	o := &UnsetOptions{Factory: f}
	if runF == nil {
		runF = runUnset
	}
	return &cobra.Command{
		Use:               "unset KEY",
		Short:             "Remove a setting, so that its default applies again",
		Example:           "  hermes config unset agent.max_turns",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Key = cmd.OutOrStdout(), args[0]
			return runF(cmd.Context(), o)
		},
	}
}

func runUnset(ctx context.Context, o *UnsetOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	change, err := c.Unset(ctx, o.Key)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Removed %s from %s.\n", change.Key, change.File)
	return nil
}
