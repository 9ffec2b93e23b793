package plugins

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
	"hermes/internal/text"
)

// offered is a plugin that comes along, as `hermes plugins list --available --json` prints it.
type offered struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Installed   bool   `json:"installed"`
}

func (n noun) available(c *factory.Call, asJSON bool) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	installed, err := plugin.Installed(cfg.Home().Plugins())
	if err != nil {
		return err
	}
	var list []offered
	for _, b := range bundled.List() {
		list = append(list, offered{b.Name, b.Description, slices.Contains(installed, b.Name)})
	}
	if asJSON {
		return factory.WriteJSON(c.Out, list)
	}
	t := factory.Table{Fit: n.Width()}
	t.Row("NAME", "INSTALLED", "IT")
	for _, o := range list {
		t.Row(o.Name, map[bool]string{true: "yes", false: "no"}[o.Installed], o.Description)
	}
	return t.Print(c.Out)
}

// helpBundled says what a plugin that comes along needs before it is enabled.
func (n noun) helpBundled(c *factory.Call, m plugin.Manifest) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	for _, s := range m.Capabilities.Secrets {
		if value, _ := cfg.LookupEnv(s.Name); value == "" {
			c.Say("It needs a key: `hermes config set %s VALUE`.", s.Name)
		}
	}
	if b, ok := n.find(m.Name); ok && b.Login != nil {
		c.Say("Log in with `%s`.", b.LogIn)
	}
	c.Say("What it does is in %s.", filepath.Join(cfg.Home().Plugins(), m.Name, "README.md"))
	return nil
}

// run is the program of a plugin that comes along. Hermes starts it, in the walls of the plugin, where
// there is neither a home nor a configuration.
func (n noun) run() *cobra.Command {
	cmd := factory.Verb("run NAME [SETTING=VALUE…]", "Be the program of a plugin that comes along", "hermes plugins run spotify", cobra.MinimumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		b, ok := n.find(c.Arg(0))
		if !ok {
			return fmt.Errorf("no plugin %s comes along with this Hermes; `hermes plugins list --available` lists them", text.VisibleName(c.Arg(0)))
		}
		p, err := b.Start(bundled.Process{Getenv: os.Getenv, Now: n.Now}, c.Args[1:])
		if err != nil {
			return err
		}
		return p.Serve(ctx, c.In, c.Out)
	})
	cmd.Hidden = true
	return cmd
}
