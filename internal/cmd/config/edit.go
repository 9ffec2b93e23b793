package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
)

// EditOptions are the flags of `config edit`.
type EditOptions struct {
	*factory.Factory
	Out, Err io.Writer
	Env      bool
}

// NewEditCmd makes `config edit`; tests replace its work with runF.
func NewEditCmd(f *factory.Factory, runF func(context.Context, *EditOptions) error) *cobra.Command {
	o := &EditOptions{Factory: f}
	if runF == nil {
		runF = runEdit
	}
	cmd := &cobra.Command{
		Use:     "edit",
		Short:   "Edit config.yaml in your editor, then check it",
		Example: "  hermes config edit\n  hermes config edit --env",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out, o.Err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Env, "env", false, "edit .env instead")
	return cmd
}

const firstConfig = `# Hermes settings. List every key and its default: hermes config show --all
# model:
#   default: anthropic/claude-opus-4.6
#   provider: openrouter
`

const firstEnv = "# Hermes secrets, one NAME=value per line.\n"

func runEdit(ctx context.Context, o *EditOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	path, first := c.Home().Config(), firstConfig
	if o.Env {
		path, first = c.Home().Env(), firstEnv
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := c.Home().Make(c.Home().Path()); err != nil {
			return err
		}
		if err := atomicfile.Write(path, []byte(first), atomicfile.Options{}); err != nil {
			return err
		}
	}
	if err := o.Edit(ctx, path); err != nil {
		return err
	}
	if c, err = o.Config(); err != nil {
		return err
	}
	problems := c.Check()
	printProblems(o.Err, problems)
	if c.Broken() {
		return errors.New("the file is not valid; fix it with `hermes config edit`")
	}
	if len(problems) == 0 {
		fmt.Fprintln(o.Out, "No problems found.")
	}
	return nil
}

// NewPathCmd makes `config path`.
func NewPathCmd(f *factory.Factory) *cobra.Command {
	return pathCmd("path", "Print the path of config.yaml", f, func(c *settings.Config) string { return c.Home().Config() })
}

// NewEnvPathCmd makes `config env-path`.
func NewEnvPathCmd(f *factory.Factory) *cobra.Command {
	return pathCmd("env-path", "Print the path of .env", f, func(c *settings.Config) string { return c.Home().Env() })
}

func pathCmd(use, short string, f *factory.Factory, path func(*settings.Config) string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, Example: "  hermes config " + use,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.Config()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path(c))
			return nil
		},
	}
}
