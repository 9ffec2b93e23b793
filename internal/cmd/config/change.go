package config

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
)

func (n noun) set() *cobra.Command {
	cmd := n.verb("set KEY [VALUE]", "Change one setting", "hermes config set agent.max_turns 50\n  hermes config set OPENROUTER_API_KEY -", cobra.RangeArgs(1, 2), func(ctx context.Context, c *call) (err error) {
		value := c.Arg(1)
		if len(c.Args) == 1 || value == "-" {
			if value, err = firstLine(c.In); err != nil {
				return err
			}
		}
		change, err := c.cfg.Set(ctx, c.Args[0], value)
		if err != nil {
			return err
		}
		c.Say("Set %s in %s.", change.Key, change.File)
		for _, note := range change.Notes {
			c.Note("note: %s", note)
		}
		return nil
	})
	cmd.Long = "Change one setting and keep the rest of the file. Names in capitals (OPENROUTER_API_KEY) and secrets\n" +
		"go to .env, everything else to config.yaml. Without a VALUE, or with -, read it from standard input.\n" +
		"Write a dot within a name as \\. (providers.p.models.gpt-4\\.1.context_length).\n" +
		"Write lists as [a, b] or a,b."
	return cmd
}

// firstLine reads a value from standard input, so that secrets stay out of the
// shell history.
func firstLine(in io.Reader) (string, error) {
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the value: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("no value on standard input; nothing was changed")
	}
	return line, nil
}

func (n noun) unset() *cobra.Command {
	return n.verb("unset KEY", "Remove a setting, so that its default applies again", "hermes config unset agent.max_turns", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		change, err := c.cfg.Unset(ctx, c.Args[0])
		if err == nil {
			c.Say("Removed %s from %s.", change.Key, change.File)
		}
		return err
	})
}

const firstConfig = `# Hermes settings. List every key and its default: hermes config show --all
# model:
#   default: anthropic/claude-opus-4.6
#   provider: openrouter
`

const firstEnv = "# Hermes secrets, one NAME=value per line.\n"

func (n noun) edit() *cobra.Command {
	var env bool
	cmd := n.verb("edit", "Edit config.yaml in your editor, then check it", "hermes config edit\n  hermes config edit --env", cobra.NoArgs, func(ctx context.Context, c *call) error {
		home := c.cfg.Home()
		path, first := home.Config(), firstConfig
		if env {
			path, first = home.Env(), firstEnv
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if err := home.Make(home.Path()); err != nil {
				return err
			}
			if err := atomicfile.Write(path, []byte(first), atomicfile.Options{}); err != nil {
				return err
			}
		}
		if err := n.Edit(ctx, path); err != nil {
			return err
		}
		edited, err := n.Config()
		if err != nil {
			return err
		}
		problems := edited.Check()
		if edited.Broken() {
			printProblems(c.Err, problems)
			return errors.New("the file is not valid; fix it with `hermes config edit`")
		}
		printChecked(c.Out, c.Err, problems)
		return nil
	})
	cmd.Flags().BoolVar(&env, "env", false, "edit .env instead")
	return cmd
}

func (n noun) migrate() *cobra.Command {
	return n.verb("migrate", "Rename outdated settings in config.yaml and keep a backup", "hermes config migrate", cobra.NoArgs, func(ctx context.Context, c *call) error {
		done, err := c.cfg.Migrate(ctx)
		if err != nil {
			return err
		}
		if len(done) == 0 {
			c.Say("Nothing to migrate.")
			return nil
		}
		for _, change := range done {
			c.Say("%s", change)
		}
		c.Say("The old file is backed up in %s.", c.cfg.Home().Backups("config"))
		return nil
	})
}
