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

// addOptions are the wishes of `fallback add`.
type addOptions struct {
	Deps
	Out   io.Writer
	Ref   string
	Entry config.Fallback
}

func newAddCmd(d Deps) *cobra.Command {
	o := &addOptions{Deps: d}
	cmd := &cobra.Command{
		Use: "add PROVIDER:MODEL", Short: "Let a model stand by, after those that do", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Ref = cmd.OutOrStdout(), args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Entry.BaseURL, "base-url", "", "the address of a server of your own")
	f.StringVar(&o.Entry.KeyEnv, "key-env", "", "the variable that holds its key")
	return cmd
}

func (o *addOptions) run(ctx context.Context) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	list := written(c)
	if len(list) == 0 && len(c.Fallback()) > 0 {
		return errors.New("fallback_model is an old name in your config.yaml; run `hermes config migrate` first")
	}
	entry := o.Entry
	entry.Model = o.Ref
	provider, model, missing, err := o.Look(ctx, entry)
	if err != nil {
		return err
	}
	entry.Provider, entry.Model = provider, model
	if slices.ContainsFunc(c.Fallback(), func(f config.Fallback) bool { return name(f) == name(entry) && f.BaseURL == entry.BaseURL }) {
		return fmt.Errorf("%s stands by already; `hermes fallback list` shows the order", name(entry))
	}
	if entry.BaseURL == "" && name(entry) == o.Main(ctx) {
		return fmt.Errorf("%s is the model that is asked first anyway; name another one", name(entry))
	}
	list = append(slices.Clone(list), fields(entry))
	change, err := c.Put(ctx, key, list)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s stands by as number %d (%s).\n", name(entry), len(list), change.File)
	if missing != "" {
		fmt.Fprintf(o.Out, "It cannot be asked yet: %s.\n", missing)
	}
	return nil
}

// fields are an entry as it is written.
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

func newRemoveCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "remove NUMBER|PROVIDER:MODEL", Aliases: []string{"rm"}, Short: "Take one of them out", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := d.Load()
			if err != nil {
				return err
			}
			list, entries := written(c), c.Fallback()
			at, err := which(entries, args[0])
			switch {
			case err != nil:
				return err
			case len(list) != len(entries):
				return errors.New("fallback_model is an old name in your config.yaml; run `hermes config migrate` first")
			}
			if len(list) == 1 {
				_, err = c.Unset(cmd.Context(), key)
			} else {
				_, err = c.Put(cmd.Context(), key, slices.Delete(slices.Clone(list), at, at+1))
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s does not stand by any more. %s\n", name(entries[at]), tellUndo)
			}
			return err
		},
	}
}

// which finds an entry by its number, from 1, or by its name.
func which(list []config.Fallback, word string) (int, error) {
	if len(list) == 0 {
		return 0, errors.New("no model stands by, so there is nothing to remove")
	}
	if n, err := strconv.Atoi(word); err == nil {
		if n < 1 || n > len(list) {
			return 0, fmt.Errorf("there is no number %d; `hermes fallback list` shows 1 to %d", n, len(list))
		}
		return n - 1, nil
	}
	at := -1
	for i, f := range list {
		if word != name(f) && word != f.Model && word != f.Provider {
			continue
		}
		if at >= 0 {
			return 0, usage.Errorf("%q means several of them; give the number that `hermes fallback list` shows", word)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("%q does not stand by; `hermes fallback list` shows those that do", word)
	}
	return at, nil
}

func newClearCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Take all of them out", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := d.Load()
			if err != nil {
				return err
			}
			n := len(c.Fallback())
			if n == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "No model stands by; there is nothing to clear.")
				return nil
			}
			if _, err := c.Unset(cmd.Context(), key); errors.Is(err, config.ErrNotSet) {
				return errors.New("fallback_model is an old name in your config.yaml; run `hermes config migrate` first")
			} else if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "No model stands by any more (%d taken out). %s\n", n, tellUndo)
			return nil
		},
	}
}
