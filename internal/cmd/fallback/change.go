package fallback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"hermes/internal/config"
	"hermes/internal/usage"
)

// addOptions are the flags and arguments of `fallback add`.
type addOptions struct {
	noun
	Out   io.Writer
	Ref   string
	Entry config.Fallback
}

func newAddCmd(n noun) *cobra.Command {
	o := &addOptions{noun: n}
	cmd := &cobra.Command{
		Use: "add PROVIDER:MODEL", Short: "Add a fallback model at the end of the list", Args: cobra.ExactArgs(1),
		Example: "  hermes fallback add anthropic:claude-sonnet-4-5\n  hermes fallback add local:qwen3 --base-url http://127.0.0.1:8000/v1",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Ref = cmd.OutOrStdout(), args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Entry.BaseURL, "base-url", "", "the address of your own server")
	f.StringVar(&o.Entry.KeyEnv, "key-env", "", "the environment variable with its key")
	return cmd
}

func (o *addOptions) run(ctx context.Context) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	list := written(c)
	if len(list) == 0 && len(c.Fallback()) > 0 {
		return errors.New("config.yaml uses the old key fallback_model; run `hermes config migrate` first")
	}
	entry := o.Entry
	entry.Model = o.Ref
	provider, model, missing, err := o.models.Look(ctx, entry)
	if err != nil {
		return err
	}
	entry.Provider, entry.Model = provider, model
	if slices.ContainsFunc(c.Fallback(), func(f config.Fallback) bool { return name(f) == name(entry) && f.BaseURL == entry.BaseURL }) {
		return fmt.Errorf("%s is already a fallback; see `hermes fallback list`", name(entry))
	}
	if entry.BaseURL == "" && name(entry) == o.models.Main(ctx) {
		return fmt.Errorf("%s is already the main model; choose another one", name(entry))
	}
	list = append(slices.Clone(list), fields(entry))
	change, err := c.Put(ctx, key, list)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Added fallback %d: %s (%s).\n", len(list), name(entry), change.File)
	if missing != "" {
		fmt.Fprintf(o.Out, "It is not usable yet: %s.\n", missing)
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

func newRemoveCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "remove NUMBER|PROVIDER:MODEL", Aliases: []string{"rm"}, Short: "Remove a fallback model", Args: cobra.ExactArgs(1),
		Example: "  hermes fallback remove 2",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := n.Config()
			if err != nil {
				return err
			}
			list, entries := written(c), c.Fallback()
			at, err := which(entries, args[0])
			switch {
			case err != nil:
				return err
			case len(list) != len(entries):
				return errors.New("config.yaml uses the old key fallback_model; run `hermes config migrate` first")
			}
			if len(list) == 1 {
				_, err = c.Unset(cmd.Context(), key)
			} else {
				_, err = c.Put(cmd.Context(), key, slices.Delete(slices.Clone(list), at, at+1))
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "Removed fallback %s. %s\n", name(entries[at]), undoHint)
			}
			return err
		},
	}
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

func newClearCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Remove all fallback models", Args: cobra.NoArgs,
		Example: "  hermes fallback clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := n.Config()
			if err != nil {
				return err
			}
			n := len(c.Fallback())
			if n == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "No fallbacks to clear.")
				return nil
			}
			if _, err := c.Unset(cmd.Context(), key); errors.Is(err, config.ErrNotSet) {
				return errors.New("config.yaml uses the old key fallback_model; run `hermes config migrate` first")
			} else if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Removed all fallbacks (%d). %s\n", n, undoHint)
			return nil
		},
	}
}
