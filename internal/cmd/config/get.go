package config

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
	"hermes/internal/redact"
	"hermes/internal/yamledit"
)

func (n noun) get() *cobra.Command {
	var asJSON, reveal bool
	cmd := n.verb("get KEY", "Print the value of a setting", "hermes config get agent.max_turns", cobra.ExactArgs(1), func(_ context.Context, c *call) error {
		printProblems(c.Err, c.cfg.FileProblems())
		value, err := c.value(c.Args[0], reveal)
		if err != nil {
			return err
		}
		if asJSON {
			return factory.WriteJSON(c.Out, value)
		}
		if m, ok := value.(map[string]any); ok && len(m) == 0 {
			return fmt.Errorf("%s is not set", c.Args[0])
		}
		c.Say("%s", text(value))
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&reveal, "reveal", false, "print a secret unmasked")
	return cmd
}

// value is the value of a variable or of a setting, or a section as a tree. Secrets
// are masked unless reveal is set.
func (c *call) value(key string, reveal bool) (any, error) {
	const masked = "note: this is a secret; use --reveal to print it"
	if settings.IsVariable(key) {
		value, ok := c.cfg.LookupEnv(key)
		if !ok {
			return nil, fmt.Errorf("%s is not set in the environment or in %s", key, c.cfg.Home().Env())
		}
		if redact.SecretName(key) && !reveal {
			c.Note(masked)
			value = redact.Mask(value)
		}
		return value, nil
	}
	entries, err := below(c.cfg, key)
	if err != nil {
		return nil, err
	}
	shown := settings.Entry.Masked
	if reveal {
		shown = func(e settings.Entry) any { return e.Value }
	}
	if len(entries) == 1 && entries[0].Secret && !reveal {
		c.Note(masked)
	}
	if len(entries) == 1 && entries[0].NoEffect != "" {
		c.Note("note: %s has %s", entries[0].Key, entries[0].NoEffect)
	}
	if len(entries) == 1 && !strings.HasPrefix(entries[0].Key, key+".") {
		return shown(entries[0]), nil
	}
	return branch(tree(entries, shown), key), nil
}

// branch is the part of a tree at a key.
func branch(at any, key string) any {
	path, err := yamledit.Split(key)
	if err != nil {
		return at
	}
	for _, name := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return at
		}
		if m[name] == nil {
			return map[string]any{}
		}
		at = m[name]
	}
	return at
}
