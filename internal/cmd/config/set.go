package config

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"hermes/internal/cmd/factory"
)

// SetOptions are the arguments of `config set`.
type SetOptions struct {
	*factory.Factory
	In         io.Reader
	Out, Err   io.Writer
	Key, Value string
	FromInput  bool
}

// NewSetCmd makes `config set`; tests replace its work with runF.
func NewSetCmd(f *factory.Factory, runF func(context.Context, *SetOptions) error) *cobra.Command {
	o := &SetOptions{Factory: f}
	if runF == nil {
		runF = runSet
	}
	return &cobra.Command{
		Use:   "set KEY [VALUE]",
		Short: "Change one setting",
		Long: "Change one setting and keep the rest of the file. Names in capitals (OPENROUTER_API_KEY) and secrets\n" +
			"go to .env, everything else to config.yaml. Without a VALUE, or with -, read it from standard input.\n" +
			"Write a dot within a name as \\. (providers.p.models.gpt-4\\.1.context_length).\n" +
			"Write lists as [a, b] or a,b.",
		Example:           "  hermes config set agent.max_turns 50\n  hermes config set OPENROUTER_API_KEY -",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.In, o.Out, o.Err, o.Key = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0]
			o.FromInput = len(args) == 1 || args[1] == "-"
			if !o.FromInput {
				o.Value = args[1]
			}
			return runF(cmd.Context(), o)
		},
	}
}

func runSet(ctx context.Context, o *SetOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	if o.FromInput {
		if o.Value, err = firstLine(o.In); err != nil {
			return err
		}
	}
	change, err := c.Set(ctx, o.Key, o.Value)
	if err != nil {
		return err
	}
	printChange(o.Out, o.Err, change)
	return nil
}
