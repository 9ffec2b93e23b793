package plugins

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/plugin"
	"hermes/internal/text"
)

func (n noun) enable() *cobra.Command {
	var yes bool
	cmd := factory.Verb("enable NAME", "Look at an installed plugin and switch it on", "hermes plugins enable words", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		name := c.Arg(0)
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		if !plugin.ValidName(name) {
			return fmt.Errorf("%q is not the name of a plugin", text.VisibleName(name))
		}
		if err := plugin.Recover(ctx, cfg.Home().Plugins()); err != nil {
			return err
		}
		dir, err := filepath.EvalSymlinks(filepath.Join(cfg.Home().Plugins(), name))
		if err != nil {
			if b, ok := n.find(name); ok {
				return fmt.Errorf("the plugin %s comes along, but is not installed; use `hermes plugins install %s`", name, b.Name)
			}
			return fmt.Errorf("there is no plugin %s; install it with `hermes plugins install`", name)
		}
		before, err := plugin.Digest(dir) // of what is shown, the manifest too
		if err != nil {
			return err
		}
		m, err := n.manifest(c, name, dir)
		if err != nil {
			return err
		}
		h, err := n.heir(c, cfg.Home().Plugins(), name, yes)
		if err != nil {
			return err
		}
		n.say(c, m)
		if !yes { // before it runs for the first time
			if !n.Terminal() {
				return errNoTerminal
			}
			if err := n.Confirm(c.In, c.Out, "Start it in its sandbox to see what it offers?"); err != nil {
				return err
			}
		}
		if err := h.enters(); err != nil {
			return err
		}
		offer, err := n.App().LookAtPlugin(ctx, dir, m)
		if err != nil {
			return fmt.Errorf("%s cannot be used: %w", name, err)
		}
		if err := n.fits(cfg, name, offer, on(cfg)); err != nil {
			return fmt.Errorf("%s cannot be used: %w", name, err)
		}
		n.tell(c, name, offer)
		if !yes {
			if err := n.Confirm(c.In, c.Out, "Enable this plugin?"); err != nil {
				return err
			}
		}
		if after, err := plugin.Digest(dir); err != nil || after != before {
			return errors.Join(errors.New("its files changed meanwhile; look at them and try it again"), err)
		}
		if err := plugin.PinsIn(cfg.Home().Plugins()).Set(ctx, name, plugin.Pin{Digest: before, Offer: offer, At: n.Now().UTC(), Source: h.place}); err != nil {
			return err
		}
		enabled := cfg.Plugins().Enabled
		if !slices.Contains(enabled, name) {
			enabled = append(slices.Clone(enabled), name)
		}
		if err := put(ctx, cfg, enabled); err != nil {
			return err
		}
		c.Say("Enabled %s. New sessions have it. If a file of it changes, it is off until you enable it again.", name)
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// fits refuses an offer whose names others have: what is built in, or other plugins, by names.
func (n noun) fits(cfg *config.Config, name string, o plugin.Offer, others []string) error {
	if why := o.Shadows(n.App().TakenTools()); why != "" {
		return errors.New(why)
	}
	pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
	if err != nil {
		return err
	}
	offers := map[string]plugin.Offer{}
	for _, other := range others {
		if pin, ok := pins[other]; ok && other != name {
			offers[other] = pin.Offer
		}
	}
	if why := o.Clash(offers); why != "" {
		return errors.New(why)
	}
	return nil
}

// on lists the plugins that are enabled, in the order in which they were.
func on(cfg *config.Config) []string {
	set := cfg.Plugins()
	return slices.DeleteFunc(slices.Clone(set.Enabled), func(name string) bool { return slices.Contains(set.Disabled, name) })
}

// manifest reads the manifest of an installed plugin and shows what is odd about it.
func (n noun) manifest(c *factory.Call, name, dir string) (plugin.Manifest, error) {
	m, notes, err := plugin.ReadManifest(dir)
	for _, note := range notes {
		n.note(c, note)
	}
	if err == nil && m.Name != name {
		err = fmt.Errorf("the manifest in the folder %s calls it %s; rename the folder", name, m.Name)
	}
	return m, err
}
