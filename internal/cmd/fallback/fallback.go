// Package fallback is the command `hermes fallback`: the models that Hermes tries
// in order when the chosen model fails.
//
// They are kept in config.yaml as fallback_providers. The verbs change single
// entries and keep the rest of the file, including its comments. The package does
// not know what an entry means or whether it is usable; the catalogue does
// (Models.Look). Start at NewCmd.
package fallback

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/services"
)

const key = "fallback_providers"

// Models are the models that the verbs ask about.
type Models interface {
	// Look finds the model of an entry. Without a provider the model may be a
	// full reference. missing says what the model lacks to be usable now. An
	// error means that there is no such model.
	Look(ctx context.Context, f config.Fallback) (provider, model, missing string, err error)
	// Main is the reference of the model that new sessions use, "" if there is none.
	Main(ctx context.Context) string
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	models Models
}

// NewCmd makes `hermes fallback`; without a verb it lists. Models replace those of the
// app in tests.
func NewCmd(f *factory.Factory, m Models) *cobra.Command {
	if m == nil {
		m = catalogue{f}
	}
	n := noun{f, m}
	return factory.Noun("fallback", "Manage the models to try when the chosen one fails",
		"hermes fallback add openrouter:deepseek/deepseek-chat\n  hermes fallback list",
		n.list(), n.add(), n.remove(), n.clear())
}

func (n noun) list() *cobra.Command {
	cmd := factory.VerbOn(n.Config, "list", "List the fallback models in order", "hermes fallback list", cobra.NoArgs, func(ctx context.Context, c *factory.Call, cfg *config.Config) error {
		list := cfg.Fallback()
		if len(list) == 0 {
			c.Note("No fallbacks. Add one with `hermes fallback add PROVIDER:MODEL`.")
		}
		for i, f := range list {
			line := fmt.Sprintf("%d  %s", i+1, name(f))
			if f.BaseURL != "" {
				line += "  at " + f.BaseURL
			}
			_, _, missing, err := n.models.Look(ctx, f)
			if err != nil {
				missing = err.Error()
			}
			if missing != "" {
				line += "\n   skipped: " + missing
			}
			c.Say("%s", line)
		}
		return nil
	})
	cmd.Aliases = []string{"ls"}
	return cmd
}

// name is an entry as it is written on the command line.
func name(f config.Fallback) string {
	if f.Provider == "" {
		return f.Model
	}
	return strings.TrimSuffix(f.Provider+":"+f.Model, ":")
}

// written are the entries as they are in config.yaml, with all their fields.
func written(c *config.Config) []any {
	switch v := c.Written(key).(type) {
	case []any:
		return v
	case map[string]any:
		return []any{v}
	}
	return nil
}

// undoHint says how to undo a change.
const undoHint = "Run `hermes undo` to undo this."

// catalogue is the Models of the app.
type catalogue struct{ f *factory.Factory }

func (c catalogue) Look(ctx context.Context, f config.Fallback) (provider, model, missing string, err error) {
	models, err := c.f.App().Models().Catalogue()
	if err != nil {
		return "", "", "", err
	}
	provider, model, err = models.Fallback(ctx, services.Fallback(f, nil))
	if err != nil && model != "" {
		return provider, model, err.Error(), nil
	}
	return provider, model, "", err
}

func (c catalogue) Main(ctx context.Context) string {
	ref, _, err := c.f.App().Models().Current(ctx, hermes.ModelChoice{})
	if err != nil {
		return "" // reported where it is needed
	}
	return ref
}
