package config

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// SetOptions are the wishes of `config set`.
type SetOptions struct {
	Deps
	In         io.Reader
	Out, Err   io.Writer
	Key, Value string
	FromInput  bool
}

// NewSetCmd makes the verb; runF replaces its work in tests.
func NewSetCmd(d Deps, runF func(context.Context, *SetOptions) error) *cobra.Command {
	o := &SetOptions{Deps: d}
	if runF == nil {
		runF = runSet
	}
	return &cobra.Command{
		Use:   "set KEY [VALUE]",
		Short: "Write one setting; nothing else in the file changes",
		Long: "Write one setting. A name in capitals (OPENROUTER_API_KEY) and the value of a secret key go to .env,\n" +
			"everything else to config.yaml. Without a VALUE, or with -, it is read from standard input.\n" +
			"A dot that belongs to a name is written \\. (providers.p.models.gpt-4\\.1.context_length).\n" +
			"Lists are written [a, b] or a,b.",
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
	c, err := o.Load()
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
	tellChange(o.Out, o.Err, change)
	return nil
}
