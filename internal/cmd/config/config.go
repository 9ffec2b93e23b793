// Package config is the command `hermes config`, which shows and changes the
// settings.
//
// It owns only the flags and the output, one file per verb. internal/config knows
// the settings and edits the files. Each verb has Options, a constructor and a
// run function. Start at NewCmd.
package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
)

// NewCmd makes `hermes config`; without a verb it shows the settings.
func NewCmd(f *factory.Factory) *cobra.Command {
	show := NewShowCmd(f, nil)
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: "Show and change settings. Settings are in config.yaml and secrets in .env, both in the home of the profile.\n" +
			"Flags take precedence over config.yaml, then .env, then the defaults.",
		Example: "  hermes config set model.default anthropic/claude-opus-4.6\n" +
			"  hermes config set OPENROUTER_API_KEY -\n" +
			"  hermes config get agent.max_turns",
		Args: cobra.NoArgs,
		RunE: show.RunE,
	}
	cmd.Flags().AddFlagSet(show.Flags())
	cmd.AddCommand(
		show,
		NewGetCmd(f, nil),
		NewSetCmd(f, nil),
		NewUnsetCmd(f, nil),
		NewEditCmd(f, nil),
		NewPathCmd(f),
		NewEnvPathCmd(f),
		NewCheckCmd(f, nil),
		NewMigrateCmd(f, nil),
	)
	return cmd
}

// completeKeys offers the keys that start with the typed text.
func completeKeys(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var keys []string
	for _, key := range settings.Keys() {
		if strings.HasPrefix(key, begun) {
			keys = append(keys, key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// printProblems prints problems, one per line.
func printProblems(w io.Writer, problems []settings.Problem) {
	marks := map[settings.Severity]string{settings.Note: "note", settings.Warning: "warning", settings.Severe: "error"}
	for _, p := range problems {
		fmt.Fprintf(w, "%s: %s\n", marks[p.Severity], p)
	}
}

func printChange(out, errs io.Writer, c settings.Change) {
	fmt.Fprintf(out, "Set %s in %s.\n", c.Key, c.File)
	for _, note := range c.Notes {
		fmt.Fprintln(errs, "note: "+note)
	}
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
