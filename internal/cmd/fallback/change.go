package fallback

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/usage"
)

// errOld means that the list is under its old name, under which it cannot be changed.
var errOld = errors.New("config.yaml uses the old key fallback_model; run `hermes config migrate` first")

func (n noun) add() *cobra.Command {
	var entry config.Fallback
	cmd := factory.VerbOn(n.Config, "add PROVIDER:MODEL", "Add a fallback model at the end of the list",
		"hermes fallback add anthropic:claude-sonnet-4-5\n  hermes fallback add local:qwen3 --base-url http://127.0.0.1:8000/v1",
		cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, cfg *config.Config) error {
			entry.Model = c.Args[0]
			return n.append(ctx, c, cfg, entry)
		})
	f := cmd.Flags()
	f.StringVar(&entry.BaseURL, "base-url", "", "the address of your own server")
	f.StringVar(&entry.KeyEnv, "key-env", "", "the environment variable with its key")
	return cmd
}

func (n noun) append(ctx context.Context, c *factory.Call, cfg *config.Config, entry config.Fallback) error {
	list, used := written(cfg), cfg.Fallback()
	if len(list) == 0 && len(used) > 0 {
		return errOld
	}
	provider, model, missing, err := n.models.Look(ctx, entry)
	if err != nil {
		return err
	}
	entry.Provider, entry.Model = provider, model
	if slices.ContainsFunc(used, func(f config.Fallback) bool { return name(f) == name(entry) && f.BaseURL == entry.BaseURL }) {
		return fmt.Errorf("%s is already a fallback; see `hermes fallback list`", name(entry))
	}
	if entry.BaseURL == "" && name(entry) == n.models.Main(ctx) {
		return fmt.Errorf("%s is already the main model; choose another one", name(entry))
	}
	list = append(slices.Clone(list), fields(entry))
	change, err := cfg.Put(ctx, key, list)
	if err != nil {
		return err
	}
	c.Say("Added fallback %d: %s (%s).", len(list), name(entry), change.File)
	if missing != "" {
		c.Say("It is not usable yet: %s.", missing)
	}
	return nil
}

// fields are an entry as it is written to config.yaml.
func fields(f config.Fallback) map[string]any {
	m := map[string]any{"provider": f.Provider, "model": f.Model}
	if f.BaseURL != "" {
		m["base_url"] = f.BaseURL
	}
	if f.KeyEnv != "" {
		m["key_env"] = f.KeyEnv
	}
	return m
}

func (n noun) remove() *cobra.Command {
	cmd := factory.VerbOn(n.Config, "remove NUMBER|PROVIDER:MODEL", "Remove a fallback model", "hermes fallback remove 2", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, cfg *config.Config) error {
		list, entries := written(cfg), cfg.Fallback()
		at, err := which(entries, c.Args[0])
		if err == nil && len(list) != len(entries) {
			err = errOld
		}
		if err != nil {
			return err
		}
		if len(list) == 1 {
			_, err = cfg.Unset(ctx, key)
		} else {
			_, err = cfg.Put(ctx, key, slices.Delete(slices.Clone(list), at, at+1))
		}
		if err == nil {
			c.Say("Removed fallback %s. %s", name(entries[at]), undoHint)
		}
		return err
	})
	cmd.Aliases = []string{"rm"}
	return cmd
}

// which finds an entry by its number, from 1, or by its name.
func which(list []config.Fallback, word string) (int, error) {
	if len(list) == 0 {
		return 0, errors.New("there are no fallbacks to remove")
	}
	if n, err := strconv.Atoi(word); err == nil {
		if n < 1 || n > len(list) {
			return 0, fmt.Errorf("no fallback %d; `hermes fallback list` shows 1 to %d", n, len(list))
		}
		return n - 1, nil
	}
	at := -1
	for i, f := range list {
		if word != name(f) && word != f.Model && word != f.Provider {
			continue
		}
		if at >= 0 {
			return 0, usage.Errorf("%q matches several fallbacks; use the number from `hermes fallback list`", word)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("%q is not a fallback; see `hermes fallback list`", word)
	}
	return at, nil
}

func (n noun) clear() *cobra.Command {
	return factory.VerbOn(n.Config, "clear", "Remove all fallback models", "hermes fallback clear", cobra.NoArgs, func(ctx context.Context, c *factory.Call, cfg *config.Config) error {
		entries := len(cfg.Fallback())
		if entries == 0 {
			c.Note("No fallbacks to clear.")
			return nil
		}
		_, err := cfg.Unset(ctx, key)
		if errors.Is(err, config.ErrNotSet) {
			return errOld
		}
		if err == nil {
			c.Say("Removed all fallbacks (%d). %s", entries, undoHint)
		}
		return err
	})
}
