package plugins

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/plugin"
	"hermes/internal/text"
)

// slow is how long a plugin may take to start before the user hears of it: the first call waits for it.
const slow = 5 * time.Second

func (n noun) doctor() *cobra.Command {
	var noStart bool
	cmd := factory.Verb("doctor", "Check the installed plugins, and start those that are enabled", "hermes plugins doctor --no-start", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		rows, err := n.rows(ctx)
		if err != nil {
			return err
		}
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		wrong := 0
		fault := func(name, what string) {
			wrong++
			c.Say("%s", n.fold(text.VisibleName(name)+": ", what))
		}
		pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
		if err != nil {
			return err
		}
		enabled := on(cfg)
		for _, r := range rows {
			// Of two with the same name, a session uses the one that was enabled first.
			before := enabled[:max(slices.Index(enabled, r.Name), 0)]
			if r.State == "on" {
				if err := n.fits(cfg, r.Name, pins[r.Name].Offer, before); err != nil {
					fault(r.Name, err.Error())
					continue
				}
			}
			switch {
			case r.Problem != "":
				fault(r.Name, r.Problem)
			case r.State == "on" && !noStart:
				took, err := n.try(ctx, filepath.Join(cfg.Home().Plugins(), r.Name), r.Name)
				if err != nil {
					fault(r.Name, err.Error())
				} else if m, _, err := plugin.ReadManifest(filepath.Join(cfg.Home().Plugins(), r.Name)); err == nil {
					for _, gap := range n.App().PluginGaps(m.Capabilities) {
						c.Say("%s", n.fold(text.VisibleName(r.Name)+": ", gap))
					}
				}
				if err == nil && took > slow {
					c.Say("%s: it takes %s to start, and its first call in a session waits for that", r.Name, took.Round(100*time.Millisecond))
				}
			}
		}
		for _, name := range cfg.Plugins().Enabled {
			if !slices.ContainsFunc(rows, func(r row) bool { return r.Name == name }) {
				fault(name, "it is named in plugins.enabled, but is not installed; `hermes plugins remove "+text.VisibleName(name)+"` forgets it")
			}
		}
		if wrong > 0 {
			return fmt.Errorf("%s cannot be used as the settings say", text.Plural(wrong, "plugin", "plugins"))
		}
		c.Say("%s, nothing is wrong.", text.Plural(len(rows), "plugin", "plugins"))
		return nil
	})
	cmd.Flags().BoolVar(&noStart, "no-start", false, "only look at files and settings")
	return cmd
}

// try starts an enabled plugin as a session would, and compares what it offers.
func (n noun) try(ctx context.Context, dir, name string) (took time.Duration, err error) {
	cfg, err := n.Config()
	if err != nil {
		return 0, err
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return 0, err
	}
	m, _, err := plugin.ReadManifest(dir)
	if err != nil {
		return 0, err
	}
	pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
	if err != nil {
		return 0, err
	}
	began := n.Now()
	offer, err := n.App().LookAtPlugin(ctx, dir, m)
	took = n.Now().Sub(began)
	if err != nil {
		return took, err
	}
	if was := pins[name].Offer; !was.Same(offer) {
		changes := cmp.Or(strings.Join(was.Changes(offer), "; "), "in another order")
		return took, fmt.Errorf("it offers something else than what you enabled (%s); look at it with `hermes plugins enable %s`", text.OneLine(changes, 200), name)
	}
	return took, nil
}
