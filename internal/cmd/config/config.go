// Package config is the command `hermes config`, which shows and changes the
// settings.
//
// It owns only the flags and the output. internal/config knows the settings and
// edits the files. Start at NewCmd.
package config

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// call is one use of a verb, with the settings.
type call struct {
	*factory.Call
	cfg *settings.Config
}

// NewCmd makes `hermes config`; without a verb it shows the settings.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	show := n.show()
	cmd := factory.Noun("config", "Show and change settings",
		"hermes config set model.default anthropic/claude-opus-4.6\n"+
			"  hermes config set OPENROUTER_API_KEY -\n"+
			"  hermes config get agent.max_turns",
		show, n.get(), n.set(), n.unset(), n.edit(), n.path(), n.envPath(), n.check(), n.migrate())
	cmd.Long = "Show and change settings. Settings are in config.yaml and secrets in .env, both in the home of the profile.\n" +
		"Flags take precedence over config.yaml, then .env, then the defaults."
	cmd.Flags().AddFlagSet(show.Flags())
	return cmd
}

// verb makes a command that works with the settings.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, do func(context.Context, *call) error) *cobra.Command {
	cmd := factory.Verb(use, short, example, args, func(ctx context.Context, c *factory.Call) error {
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		return do(ctx, &call{c, cfg})
	})
	if strings.Contains(use, " ") { // the first argument is a key
		cmd.ValidArgsFunction = completeKeys
	}
	return cmd
}

// completeKeys offers the keys that start with the typed text.
func completeKeys(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var keys []string
	for _, key := range settings.Keys() {
		if len(args) == 0 && strings.HasPrefix(key, begun) {
			keys = append(keys, key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// path makes `config path`, and envPath `config env-path`.
func (n noun) path() *cobra.Command {
	return n.verb("path", "Print the path of config.yaml", "hermes config path", cobra.NoArgs, func(_ context.Context, c *call) error {
		c.Say("%s", c.cfg.Home().Config())
		return nil
	})
}

func (n noun) envPath() *cobra.Command {
	return n.verb("env-path", "Print the path of .env", "hermes config env-path", cobra.NoArgs, func(_ context.Context, c *call) error {
		c.Say("%s", c.cfg.Home().Env())
		return nil
	})
}

func (n noun) check() *cobra.Command {
	var asJSON bool
	cmd := n.verb("check", "Check the settings; exit with status 1 if there is a problem", "hermes config check", cobra.NoArgs, func(_ context.Context, c *call) error {
		problems := c.cfg.Check()
		rows, effective := []problemJSON{}, 0
		for _, p := range problems {
			rows = append(rows, problemJSON{severities[p.Severity], p.File, p.Line, p.Key, p.Text, p.Served, p.Do})
			if p.Severity >= settings.Warning {
				effective++
			}
		}
		if asJSON {
			if err := factory.WriteJSON(c.Out, rows); err != nil {
				return err
			}
		} else {
			printChecked(c.Out, c.Out, problems)
		}
		if effective > 0 {
			return fmt.Errorf("problems in the settings: %d", effective)
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

type problemJSON struct {
	Severity string `json:"severity"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Key      string `json:"key,omitempty"`
	Text     string `json:"text"`
	Served   string `json:"served,omitempty"`
	Do       string `json:"do,omitempty"`
}

// severities are the words for the severities, in their order.
var severities = [...]string{settings.Note: "note", settings.Warning: "warning", settings.Severe: "error"}

// printProblems prints problems, one per line.
func printProblems(w io.Writer, problems []settings.Problem) {
	for _, p := range problems {
		fmt.Fprintf(w, "%s: %s\n", severities[p.Severity], p)
	}
}

// printChecked prints all problems of the settings to errs, or that there are none to out.
func printChecked(out, errs io.Writer, problems []settings.Problem) {
	printProblems(errs, problems)
	if len(problems) == 0 {
		fmt.Fprintln(out, "No problems found.")
	}
}
