// Package plugins holds the command `hermes plugins`: programs that bring tools, hooks and sections
// of the prompt along.
//
// It reads flags, asks the user and changes the settings. What a plugin is and what it may do is
// decided in internal/plugin. Start at NewCmd.
package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/source"
	"hermes/internal/text"
)

// noun makes the verbs.
type noun struct {
	*factory.Factory
	// find finds a plugin that comes along.
	find func(name string) (bundled.Plugin, bool)
}

// NewCmd makes `hermes plugins`; without a verb it lists them.
func NewCmd(f *factory.Factory) *cobra.Command { return newCmd(noun{f, bundled.Find}) }

func newCmd(n noun) *cobra.Command {
	return factory.Noun("plugins", "Use plugins: programs that bring tools and hooks along", "hermes plugins list\n  hermes plugins create words --language python\n  hermes plugins install ./words\n  hermes plugins enable words\n  hermes plugins list --available",
		n.list(), n.install(), n.update(), n.remove(), n.enable(), n.disable(), n.create(), n.doctor(), n.login(), n.run())
}

var errNoTerminal = errors.New("no terminal to ask on; look at it there, or use --yes")

// row is a plugin as `hermes plugins list --json` prints it.
type row struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	State   string   `json:"state"` // on, off, changed or wrong
	Tools   []string `json:"tools,omitempty"`
	Problem string   `json:"problem,omitempty"`
	// Source is where it was installed from; nil if no command of this home installed it.
	Source *source.Source `json:"source,omitempty"`
}

func (n noun) list() *cobra.Command {
	var asJSON, available bool
	cmd := factory.Verb("list", "List the installed plugins", "hermes plugins list", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		if available {
			return n.available(c, asJSON)
		}
		rows, err := n.rows(ctx)
		switch {
		case err != nil:
			return err
		case asJSON:
			return factory.WriteJSON(c.Out, rows)
		case len(rows) == 0:
			c.Say("No plugins. Install one with `hermes plugins install`, or make one with `hermes plugins create`.")
			return nil
		}
		t := factory.Table{Fit: n.Width()}
		t.Row("NAME", "VERSION", "STATE", "TOOLS", "SOURCE")
		for _, r := range rows {
			from := "unknown (put there by hand)"
			if r.Source != nil {
				from = r.Source.String()
			}
			t.Row(r.Name, text.VisibleName(r.Version), r.State, len(r.Tools), from)
		}
		return t.Print(c.Out)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&available, "available", false, "list the plugins that come along with Hermes")
	return cmd
}

func (n noun) rows(ctx context.Context) ([]row, error) {
	cfg, err := n.Config()
	if err != nil {
		return nil, err
	}
	if err := plugin.Recover(ctx, cfg.Home().Plugins()); err != nil {
		return nil, err
	}
	names, err := plugin.Installed(cfg.Home().Plugins())
	if err != nil {
		return nil, err
	}
	pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
	if err != nil {
		return nil, err
	}
	rows := []row{}
	for _, name := range names {
		rows = append(rows, rowOf(cfg, name, pins))
	}
	return rows, nil
}

// rowOf looks at a plugin without starting it.
func rowOf(cfg *config.Config, name string, pins map[string]plugin.Pin) (r row) {
	r = row{Name: name, State: "off"}
	dir := filepath.Join(cfg.Home().Plugins(), name)
	from, ok, unknown := plugin.SourceOf(cfg.Home().Plugins(), name)
	if ok && unknown == nil {
		r.Source = &from
	}
	if unknown != nil {
		defer func() { r.Problem = cmp.Or(r.Problem, "where it comes from is not known: "+unknown.Error()) }()
	}
	m, _, err := plugin.ReadManifest(dir)
	if err == nil && m.Name != name {
		err = fmt.Errorf("its manifest calls it %s", m.Name)
	}
	if err != nil {
		r.State, r.Problem = "wrong", err.Error()
		return r
	}
	r.Version = m.Version
	set := cfg.Plugins()
	pin, pinned := pins[name]
	for _, t := range pin.Offer.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	if !slices.Contains(set.Enabled, name) || slices.Contains(set.Disabled, name) {
		return r
	}
	switch d, err := plugin.Digest(dir); {
	case !pinned:
		r.State, r.Problem = "wrong", "it is named in plugins.enabled, but it is not recorded that you looked at it; use `hermes plugins enable "+name+"`"
	case err != nil:
		r.State, r.Problem = "wrong", err.Error()
	case d != pin.Digest:
		r.State, r.Problem = "changed", "its files have changed since you enabled it; look at them, then use `hermes plugins enable "+name+"`"
	default:
		r.State = "on"
	}
	return r
}

// put writes plugins.enabled if it changes.
func put(ctx context.Context, cfg *config.Config, enabled []string) error {
	if slices.Equal(enabled, cfg.Plugins().Enabled) {
		return nil
	}
	list := make([]any, len(enabled))
	for i, e := range enabled {
		list[i] = e
	}
	_, err := cfg.Put(ctx, "plugins.enabled", list)
	return err
}

func (n noun) disable() *cobra.Command {
	return factory.Verb("disable NAME", "Switch a plugin off", "hermes plugins disable words", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		if !slices.Contains(cfg.Plugins().Enabled, c.Arg(0)) {
			return fmt.Errorf("the plugin %s is not enabled; `hermes plugins list` shows all", text.VisibleName(c.Arg(0)))
		}
		if err := forget(ctx, cfg, c.Arg(0)); err != nil {
			return err
		}
		c.Say("Disabled %s. Sessions that run keep it until they end.", c.Arg(0))
		return nil
	})
}

func (n noun) create() *cobra.Command {
	var language string
	cmd := factory.Verb("create NAME", "Write a new plugin into a folder of its name", "hermes plugins create words --language python", cobra.ExactArgs(1), func(_ context.Context, c *factory.Call) error {
		files, err := plugin.Create(c.Arg(0), c.Arg(0), language)
		if err != nil {
			return err
		}
		c.Say("Wrote %s into %s.", text.Plural(len(files), "file", "files"), c.Arg(0))
		if language == "go" {
			c.Say("Build it there with `go build -o plugin ./`.")
		}
		c.Say("Then use `hermes plugins install ./%s`.", c.Arg(0))
		return nil
	})
	cmd.Flags().StringVar(&language, "language", "python", "go, python or typescript")
	return cmd
}
