// Package fallback is the command `hermes fallback`: the models that answer
// where the chosen one cannot, in their order.
//
// They stand in config.yaml as fallback_providers; the verbs change single
// entries there and leave the rest of the file, comments included, as it is.
// What an entry means and whether it can be asked is the catalogue's matter
// (Deps.Look). Start at NewCmd.
package fallback

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/config"
)

const key = "fallback_providers"

// Deps are what the verbs work with.
type Deps struct {
	// Load reads the configuration anew.
	Load func() (*config.Config, error)
	// Look finds out which model an entry means. Without a provider the model
	// may be a whole reference. missing says what it lacks to be asked now; an
	// error says that it means nothing.
	Look func(ctx context.Context, f config.Fallback) (provider, model, missing string, err error)
	// Main is the reference of the model that new sessions use, "" if there is none.
	Main func(ctx context.Context) string
}

// NewCmd makes `hermes fallback`; alone it lists.
func NewCmd(d Deps) *cobra.Command {
	list := newListCmd(d)
	cmd := &cobra.Command{
		Use:   "fallback",
		Short: "The models that answer where the chosen one cannot",
		Args:  cobra.NoArgs,
		RunE:  list.RunE,
	}
	cmd.AddCommand(list, newAddCmd(d), newRemoveCmd(d), newClearCmd(d))
	return cmd
}

func newListCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List them in the order in which they are asked", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := d.Load()
			if err != nil {
				return err
			}
			list := c.Fallback()
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "No model stands by. `hermes fallback add PROVIDER:MODEL` adds one.")
				return nil
			}
			d.print(cmd.Context(), cmd.OutOrStdout(), list)
			return nil
		},
	}
}

func (d Deps) print(ctx context.Context, out io.Writer, list []config.Fallback) {
	for i, f := range list {
		line := fmt.Sprintf("%d  %s", i+1, name(f))
		if f.BaseURL != "" {
			line += "  at " + f.BaseURL
		}
		_, _, missing, err := d.Look(ctx, f)
		switch {
		case err != nil:
			line += "\n   left out: " + err.Error()
		case missing != "":
			line += "\n   left out: " + missing
		}
		fmt.Fprintln(out, line)
	}
}

// name is an entry as it is written on the command line.
func name(f config.Fallback) string {
	if f.Provider == "" {
		return f.Model
	}
	return strings.TrimSuffix(f.Provider+":"+f.Model, ":")
}

// written are the entries as they stand in config.yaml, with all that is
// written there.
func written(c *config.Config) []any {
	switch v := c.Written(key).(type) {
	case []any:
		return v
	case map[string]any:
		return []any{v}
	}
	return nil
}

// tellUndo says how a change is taken back.
const tellUndo = "`hermes undo` takes it back."
