// Package config is the command `hermes config`: looking at the settings and
// changing them, a file a verb.
//
// What a setting is and how a file is changed without touching the rest is in
// internal/config; here are only words and flags. A verb has Options, a
// constructor and a run func. Start at NewCmd.
package config

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	settings "hermes/internal/config"
)

// Deps are what the verbs need.
type Deps struct {
	// Load reads the configuration anew at every call.
	Load func() (*settings.Config, error)
	// Edit opens a file in the person's editor and returns when it is closed;
	// nil means that none can be started.
	Edit func(ctx context.Context, path string) error
}

// NewCmd makes `hermes config`; alone it shows what is set.
func NewCmd(d Deps) *cobra.Command {
	show := NewShowCmd(d, nil)
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the settings and change them",
		Long: "Settings stand in config.yaml, secrets in .env, both in the home of the profile.\n" +
			"What the command line says wins over config.yaml, that over .env, that over the defaults.",
		Example: "  hermes config set model.default anthropic/claude-opus-4.6\n" +
			"  hermes config set OPENROUTER_API_KEY -\n" +
			"  hermes config get agent.max_turns",
		Args: cobra.NoArgs,
		RunE: show.RunE,
	}
	cmd.Flags().AddFlagSet(show.Flags())
	cmd.AddCommand(
		show,
		NewGetCmd(d, nil),
		NewSetCmd(d, nil),
		NewUnsetCmd(d, nil),
		NewEditCmd(d, nil),
		NewPathCmd(d),
		NewEnvPathCmd(d),
		NewCheckCmd(d, nil),
		NewMigrateCmd(d, nil),
	)
	return cmd
}

// completeKeys offers the keys that begin with what was typed.
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

// tell prints problems one below the other.
func tell(w io.Writer, problems []settings.Problem) {
	marks := map[settings.Severity]string{settings.Note: "note", settings.Warning: "warning", settings.Severe: "error"}
	for _, p := range problems {
		fmt.Fprintf(w, "%s: %s\n", marks[p.Severity], p)
	}
}

func tellChange(out, errs io.Writer, c settings.Change) {
	fmt.Fprintf(out, "%s is set in %s.\n", c.Key, c.File)
	for _, note := range c.Notes {
		fmt.Fprintln(errs, "note: "+note)
	}
}

// firstLine reads a value from standard input, so that a secret need not stand
// in the shell's history.
func firstLine(in io.Reader) (string, error) {
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the value: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("no value came on standard input; nothing was written")
	}
	return line, nil
}
