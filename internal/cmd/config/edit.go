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
	settings "hermes/internal/config"
)

// EditOptions are the wishes of `config edit`.
type EditOptions struct {
	Deps
	Out, Err io.Writer
	Env      bool
}

// NewEditCmd makes the verb; runF replaces its work in tests.
func NewEditCmd(d Deps, runF func(context.Context, *EditOptions) error) *cobra.Command {
	o := &EditOptions{Deps: d}
	if runF == nil {
		runF = runEdit
	}
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Open config.yaml in your editor and check it afterwards",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out, o.Err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Env, "env", false, "open .env instead")
	return cmd
}

const firstConfig = `# Settings of Hermes. Every key and its default: hermes config show --all
# model:
#   default: anthropic/claude-opus-4.6
#   provider: openrouter
`

const firstEnv = "# Secrets of Hermes, one NAME=value a line.\n"

func runEdit(ctx context.Context, o *EditOptions) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	path, first := c.Home().Config(), firstConfig
	if o.Env {
		path, first = c.Home().Env(), firstEnv
	}
	if o.Edit == nil {
		return fmt.Errorf("no editor can be started here; open %s in one", path)
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
	if c, err = o.Load(); err != nil {
		return err
	}
	problems := c.Check()
	tell(o.Err, problems)
	if c.Broken() {
		return errors.New("the file cannot be used as it is; open it again with `hermes config edit`")
	}
	if len(problems) == 0 {
		fmt.Fprintln(o.Out, "The settings are fine.")
	}
	return nil
}

// NewPathCmd makes `config path`.
func NewPathCmd(d Deps) *cobra.Command {
	return pathCmd("path", "Print where config.yaml is", d, func(c *settings.Config) string { return c.Home().Config() })
}

// NewEnvPathCmd makes `config env-path`.
func NewEnvPathCmd(d Deps) *cobra.Command {
	return pathCmd("env-path", "Print where .env is", d, func(c *settings.Config) string { return c.Home().Env() })
}

func pathCmd(use, short string, d Deps, path func(*settings.Config) string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := d.Load()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path(c))
			return nil
		},
	}
}
