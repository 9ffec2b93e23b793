package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/mcp/known"
	"hermes/internal/mcp/setting"
	"hermes/internal/text"
)

func (n noun) configure() *cobra.Command {
	var include, exclude []string
	var on, off, all, approve, now bool
	cmd := factory.Verb("configure NAME", "Choose what an MCP server offers, and approve what it changed",
		"hermes mcp configure github\n  hermes mcp configure github --approve\n  hermes mcp configure github --include 'get_*' --include search", cobra.ExactArgs(1),
		func(ctx context.Context, c *factory.Call) error {
			name := c.Arg(0)
			if _, err := n.there(name); err != nil {
				return err
			}
			changes := map[string]any{}
			switch {
			case on && off, all && len(include)+len(exclude) > 0:
				return fmt.Errorf("these flags contradict each other")
			case on:
				changes["enabled"] = true
			case off:
				changes["enabled"] = false
			}
			if len(include) > 0 {
				changes["tools.include"] = anys(include)
			}
			if len(exclude) > 0 {
				changes["tools.exclude"] = anys(exclude)
			}
			if all {
				changes["tools.include"], changes["tools.exclude"] = []any{}, []any{}
			}
			if len(changes) == 0 {
				if err := n.approve(ctx, c, name, approve); err != nil || !now {
					return err // sessions that run see approvals by themselves
				}
				return n.applied(ctx, c, now)
			}
			cfg, err := n.Config()
			if err != nil {
				return err
			}
			for key, v := range changes {
				if _, err := cfg.Put(ctx, keyOf(name)+"."+key, v); err != nil {
					return err
				}
			}
			c.Say("Changed %s.", name)
			return n.applied(ctx, c, now)
		})
	cmd.Flags().StringArrayVar(&include, "include", nil, "offer only tools with such names")
	cmd.Flags().StringArrayVar(&exclude, "exclude", nil, "do not offer tools with such names")
	cmd.Flags().BoolVar(&all, "all", false, "offer all tools")
	cmd.Flags().BoolVar(&on, "on", false, "switch the server on")
	cmd.Flags().BoolVar(&off, "off", false, "switch the server off")
	nowFlag(cmd, &now)
	cmd.Flags().BoolVar(&approve, "approve", false, "approve the tools that the server changed or added, without asking")
	return cmd
}

// approve connects to a server, shows which of its tools are not approved, and asks about each.
func (n noun) approve(ctx context.Context, c *factory.Call, name string, yes bool) error {
	s, err := n.there(name)
	if err != nil {
		return err
	}
	server, done, err := n.App().OpenMCP(ctx, s, true)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer done()
	state := server.State()
	if err := tell(c, state); err != nil {
		return err
	}
	waiting := blocked(state)
	if len(waiting) == 0 {
		c.Say("All %s are approved. --include, --exclude, --on and --off change what is offered.", text.Plural(len(state.Tools), "tool", "tools"))
		return nil
	}
	for _, t := range waiting {
		shown := server.Changed(t.Original)
		c.Say("\n%s", shown)
		if !yes {
			if !n.Terminal() {
				return errNoTerminalApprove
			}
			if err := n.Confirm(c.In, c.Out, "Approve "+text.VisibleName(t.Original)+"?"); err != nil {
				return err
			}
		}
		if err := server.Approve(t.Original, shown); err != nil {
			return err
		}
		c.Say("Approved %s.", text.VisibleName(t.Original))
	}
	return nil
}

var errNoTerminalApprove = fmt.Errorf("there is no terminal to ask on; use --approve if you have looked at the changes")

func (n noun) catalog() *cobra.Command {
	var asJSON bool
	cmd := factory.Verb("catalog [WORD]", "List MCP servers that are known", "hermes mcp catalog", cobra.MaximumNArgs(1), func(_ context.Context, c *factory.Call) error {
		list := slices.DeleteFunc(known.Catalogue(), func(k known.Server) bool {
			return !strings.Contains(strings.ToLower(k.Name+" "+k.Title+" "+k.About), strings.ToLower(c.Arg(0)))
		})
		if asJSON {
			return factory.WriteJSON(c.Out, list)
		}
		t := factory.Table{Fit: n.Width()}
		for _, k := range list {
			t.Row(k.Name, k.Title, k.About)
		}
		if err := t.Print(c.Out); err != nil {
			return err
		}
		c.Say("Add one with `hermes mcp install NAME`.")
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (n noun) install() *cobra.Command {
	var how putting
	var values []string
	cmd := factory.Verb("install NAME", "Add an MCP server of the catalogue", "hermes mcp install github\n  hermes mcp install filesystem --set FOLDER=/home/ann/notes", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		k, ok := known.Find(c.Arg(0))
		if !ok {
			return fmt.Errorf("the catalogue has no server %q; `hermes mcp catalog` lists them", text.VisibleName(c.Arg(0)))
		}
		c.Say("%s: %s %s", k.Title, k.About, k.Home)
		given := map[string]string{}
		for _, v := range values {
			name, value, _ := strings.Cut(v, "=")
			given[name] = value
		}
		secrets, err := n.needs(c, k, given)
		if err != nil {
			return err
		}
		settings, _ := setting.Vars{Lookup: func(name string) (string, bool) {
			v, ok := given[name]
			return v, ok
		}}.Expand(k.Settings) // what is missing are its secrets
		return n.put(ctx, c, k.Name, settings, secrets, how)
	})
	cmd.Flags().StringArrayVar(&values, "set", nil, "a value that the server needs, as NAME=VALUE")
	cmd.Flags().BoolVarP(&how.yes, "yes", "y", false, "do not ask")
	nowFlag(cmd, &how.now)
	cmd.Flags().BoolVar(&how.untested, "no-test", false, "do not connect to it first")
	return cmd
}

// needs asks for the values that a server needs and that are not given or kept already. It
// returns the secrets and adds the others to given.
func (n noun) needs(c *factory.Call, k known.Server, given map[string]string) (map[string]string, error) {
	cfg, err := n.Config()
	if err != nil {
		return nil, err
	}
	secrets := map[string]string{}
	for _, need := range k.Inputs {
		if given[need.Name] != "" {
			continue
		}
		if !n.Terminal() {
			return nil, fmt.Errorf("%s needs %s: give it with --set %s=VALUE", k.Name, need.About, need.Name)
		}
		line, err := n.Line(c.In, c.Out, need.Name+" ("+need.About+"): ")
		if err != nil {
			return nil, err
		}
		given[need.Name] = line
	}
	for _, need := range k.Keys {
		if v := given[need.Name]; v != "" {
			secrets[need.Name] = v
			delete(given, need.Name)
			continue
		}
		if _, there := cfg.LookupEnv(need.Name); there {
			continue
		}
		if !n.Terminal() {
			return nil, fmt.Errorf("%s needs %s: keep it with `hermes config set %s VALUE`", k.Name, need.About, need.Name)
		}
		fmt.Fprintf(c.Out, "%s (%s): ", need.Name, need.About)
		v, err := n.Hidden()
		if err != nil {
			return nil, err
		}
		c.Say("")
		secrets[need.Name] = strings.TrimSpace(v)
	}
	return secrets, nil
}
