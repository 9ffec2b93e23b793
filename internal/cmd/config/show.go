package config

import (
	"context"
	"fmt"
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

func (n noun) show() *cobra.Command {
	var all, asJSON bool
	cmd := n.verb("show [SECTION]", "Show the settings and where they are set; secrets are masked", "hermes config show\n  hermes config show agent", cobra.MaximumNArgs(1), func(_ context.Context, c *call) (err error) {
		entries := c.cfg.Entries()
		switch key := c.Arg(0); {
		case key != "":
			if entries, err = below(c.cfg, key); err != nil {
				return err
			}
		case !all:
			entries = slices.DeleteFunc(entries, func(e settings.Entry) bool { return e.Source == settings.FromDefault })
		}
		if asJSON {
			return factory.WriteJSON(c.Out, tree(entries, settings.Entry.Masked))
		}
		for _, e := range entries {
			c.Say("%s: %s  # %s", e.Key, yamledit.Flow(e.Masked()), remark(e))
		}
		variables := 0
		if c.Arg(0) == "" {
			variables = c.printVariables()
		}
		if len(entries)+variables == 0 {
			c.Say("No settings; the defaults apply. List them with `hermes config show --all`.\nSettings go to %s.", c.cfg.Home().Config())
		}
		printProblems(c.Err, c.cfg.Warnings())
		return nil
	})
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also show the defaults")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// printVariables prints the variables of .env with their effective values, and
// returns how many there are.
func (c *call) printVariables() int {
	names := c.cfg.EnvNames()
	for _, name := range names {
		value := c.cfg.Getenv(name)
		if redact.SecretName(name) {
			value = redact.Mask(value)
		}
		from := ".env"
		if c.cfg.Overridden(name) {
			from = "environment, overrides .env"
		}
		c.Say("%s=%s  # %s", name, value, from)
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
	from := string(e.Source)
	switch {
	case e.Source == settings.FromDefault:
		from = "default"
	case e.Env != "":
		from = e.Env
	case e.File != "":
		from = fmt.Sprintf("%s line %d", filepath.Base(e.File), e.Line)
	}
	if e.NoEffect != "" {
		from += "; " + e.NoEffect
	}
	return from
}

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
			lines = append(lines, k+": "+yamledit.Flow(v[k]))
		}
		return strings.Join(lines, "\n")
	}
	return fmt.Sprint(v)
}
