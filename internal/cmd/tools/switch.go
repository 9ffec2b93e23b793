package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/config"
)

// change turns toolsets or single tools on or off.
type change struct {
	names    []string
	on       bool
	platform string // "" is all platforms
}

// switched makes `tools enable` and `tools disable`.
func (n noun) switched(verb, short string, on bool) *cobra.Command {
	var platform string
	cmd := factory.Verb(verb+" NAME…", short, "hermes tools "+verb+" terminal", cobra.MinimumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		opened, err := n.open(cmp.Or(platform, cli))
		if err != nil {
			return err
		}
		if _, unknown := opened.Catalogue.Expand(ctx, c.Args...); len(unknown) > 0 {
			return fmt.Errorf("unknown toolset or tool %q; list them with `hermes tools`", unknown[0])
		}
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		o, where := change{c.Args, on, platform}, ""
		if platform == "" {
			err = o.everywhere(ctx, cfg)
		} else {
			err, where = o.onPlatform(ctx, cfg, opened), " on "+platform
		}
		if err != nil {
			return err
		}
		for _, name := range c.Args {
			c.Say("Turned %s %s%s for new sessions.", map[bool]string{true: "on", false: "off"}[on], name, where)
		}
		return nil
	})
	cmd.Flags().StringVar(&platform, "platform", "", "change only this platform (cli, telegram, …); default is all")
	return cmd
}

// everywhere changes the list of disabled names, which wins over every other list.
// Enabled names are also added to the list of enabled ones, if there is one.
func (o change) everywhere(ctx context.Context, c *config.Config) error {
	off := c.Agent().DisabledToolsets
	if err := put(ctx, c, "agent.disabled_toolsets", off, changed(off, o.names, !o.on)); err != nil {
		return err
	}
	on := c.General().Toolsets
	if !o.on || len(on) == 0 {
		return nil
	}
	return put(ctx, c, "toolsets", on, changed(on, o.names, true))
}

// onPlatform changes the list of one platform. A new list starts with the toolsets
// that a session on it has now.
func (o change) onPlatform(ctx context.Context, c *config.Config, opened Opened) error {
	was := c.PlatformToolsets()[o.platform]
	list := was
	if len(list) == 0 {
		set, err := opened.Catalogue.Select(ctx, opened.Selection)
		if err != nil {
			return err
		}
		for _, s := range opened.Catalogue.States(ctx) {
			if len(selected(set, s.Name)) > 0 {
				list = append(list, s.Name)
			}
		}
	}
	off := c.Agent().DisabledToolsets
	for _, name := range o.names {
		if o.on && slices.Contains(off, name) {
			return fmt.Errorf("%s is off on all platforms (agent.disabled_toolsets); first run `hermes tools enable %s`", name, name)
		}
	}
	list = changed(list, o.names, o.on)
	if len(list) == 0 {
		return fmt.Errorf("%s would have no tools, and an empty list means the preset; turn off fewer toolsets", o.platform)
	}
	return put(ctx, c, "platform_toolsets."+o.platform, was, list)
}

func changed(list, names []string, in bool) []string {
	out := slices.Clone(list)
	for _, name := range names {
		out = slices.DeleteFunc(out, func(have string) bool { return have == name && !in })
		if in && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// put writes a list if it differs.
func put(ctx context.Context, c *config.Config, key string, was, list []string) error {
	if slices.Equal(was, list) {
		return nil
	}
	_, err := c.Put(ctx, key, list)
	return err
}
