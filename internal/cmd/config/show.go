package config

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
	"hermes/internal/redact"
	"hermes/internal/yamledit"
)

// ShowOptions are the flags and arguments of `config show`.
type ShowOptions struct {
	*factory.Factory
	Out, Err io.Writer
	Key      string // a section or a key; "" is everything
	All      bool
	JSON     bool
}

// NewShowCmd makes `config show`; tests replace its work with runF.
func NewShowCmd(f *factory.Factory, runF func(*ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Factory: f}
	if runF == nil {
		runF = runShow
	}
	cmd := &cobra.Command{
		Use:               "show [SECTION]",
		Short:             "Show the settings and where they are set; secrets are masked",
		Example:           "  hermes config show\n  hermes config show agent",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if len(args) > 0 {
				o.Key = args[0]
			}
			return runF(o)
		},
	}
	cmd.Flags().BoolVarP(&o.All, "all", "a", false, "also show the defaults")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print as JSON")
	return cmd
}

func runShow(o *ShowOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	entries := c.Entries()
	if o.Key != "" {
		if entries, err = below(c, o.Key); err != nil {
			return err
		}
		o.All = true
	}
	if !o.All {
		entries = slices.DeleteFunc(entries, func(e settings.Entry) bool { return e.Source == settings.FromDefault })
	}
	if o.JSON {
		return factory.WriteJSON(o.Out, tree(entries, settings.Entry.Masked))
	}
	for _, e := range entries {
		fmt.Fprintf(o.Out, "%s: %s  # %s\n", e.Key, written(e.Masked()), remark(e))
	}
	variables := 0
	if o.Key == "" {
		variables = o.variables(c)
	}
	if len(entries)+variables == 0 {
		fmt.Fprintf(o.Out, "No settings; the defaults apply. List them with `hermes config show --all`.\nSettings go to %s.\n", c.Home().Config())
	}
	printProblems(o.Err, c.Warnings())
	return nil
}

// variables prints the variables of .env with their effective values, and returns
// how many there are.
func (o *ShowOptions) variables(c *settings.Config) int {
	names := c.EnvNames()
	for _, name := range names {
		value := c.Getenv(name)
		if redact.SecretName(name) {
			value = redact.Mask(value)
		}
		from := ".env"
		if c.Overridden(name) {
			from = "environment, overrides .env"
		}
		fmt.Fprintf(o.Out, "%s=%s  # %s\n", name, value, from)
	}
	return len(names)
}

// below lists the settings of a section, or the one of a key.
func below(c *settings.Config, key string) ([]settings.Entry, error) {
	path, err := c.Resolve(key)
	if err != nil {
		return nil, err
	}
	entries := c.EntriesBelow(path...)
	if len(entries) == 0 && !c.Known(path...) {
		return nil, fmt.Errorf("unknown setting %s%s", key, hint(key))
	}
	return entries, nil
}

func hint(key string) string {
	if name := settings.Nearest(key); name != "" {
		return "; did you mean " + name + "?"
	}
	return "; list settings with `hermes config show --all`"
}

// remark says where a value comes from and what it waits for.
func remark(e settings.Entry) string {
	if e.NoEffect == "" {
		return origin(e)
	}
	return origin(e) + "; " + e.NoEffect
}

// origin says where a value comes from.
func origin(e settings.Entry) string {
	switch {
	case e.Source == settings.FromDefault:
		return "default"
	case e.Env != "":
		return e.Env
	case e.File != "":
		return fmt.Sprintf("%s line %d", filepath.Base(e.File), e.Line)
	}
	return string(e.Source)
}

// written is a value in the syntax of config.yaml.
func written(v any) string { return yamledit.Flow(v) }

// tree nests the entries by their keys; shown returns the value of an entry.
func tree(entries []settings.Entry, shown func(settings.Entry) any) map[string]any {
	root := map[string]any{}
	for _, e := range entries {
		path, err := yamledit.Split(e.Key)
		if err != nil {
			continue
		}
		at := root
		for _, name := range path[:len(path)-1] {
			next, ok := at[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[name] = next
			}
			at = next
		}
		at[path[len(path)-1]] = shown(e)
	}
	return root
}

// text is a value for scripts: a string without quotes, a list one item per line.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		lines := make([]string, len(v))
		for i, item := range v {
			lines[i] = text(item)
		}
		return strings.Join(lines, "\n")
	case map[string]any:
		lines := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			lines = append(lines, k+": "+written(v[k]))
		}
		return strings.Join(lines, "\n")
	}
	return fmt.Sprint(v)
}
