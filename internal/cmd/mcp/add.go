package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
	"hermes/internal/text"
)

// flags are those of `hermes mcp add`.
type flags struct {
	url, transport, auth, trust string
	env, headers                []string
	hosts, read, write          []string
	disabled, yes, untested     bool
	now                         bool
}

func (n noun) add() *cobra.Command {
	var f flags
	cmd := factory.Verb("add NAME [-- COMMAND ARG…]", "Add an MCP server to the settings",
		"hermes mcp add notes --write ~/notes -- npx -y notes-server ~/notes\n  hermes mcp add linear --url https://mcp.linear.app/mcp --auth oauth", cobra.MinimumNArgs(1),
		func(ctx context.Context, c *factory.Call) error {
			settings, secrets, err := f.settings(c.Args[0], c.Args[1:])
			if err != nil {
				return err
			}
			return n.put(ctx, c, c.Args[0], settings, secrets, putting{f.yes, f.untested || f.disabled, f.now})
		})
	cmd.Long = "A program runs in a sandbox of its own: it reads the folder in which Hermes works and what its command names,\n" +
		"writes only what --write names, and reaches package registries and what --host names. Values of --env and\n" +
		"--header whose names look like secrets are kept in Hermes' file of secrets, not in the settings."
	p := cmd.Flags()
	p.StringVar(&f.url, "url", "", "the address of a server on the network")
	p.StringVar(&f.transport, "transport", "", "how an address is spoken to: http or sse")
	p.StringVar(&f.auth, "auth", "", "oauth: log in with `hermes mcp login`")
	p.StringVar(&f.trust, "trust", "", "untrusted: ask before each tool that may change something")
	p.StringArrayVar(&f.env, "env", nil, "a variable of the program, as NAME=VALUE")
	p.StringArrayVar(&f.headers, "header", nil, "a header of each request, as NAME: VALUE")
	p.StringArrayVar(&f.hosts, "host", nil, "a host that the program may reach, as HOST:PORT")
	p.StringArrayVar(&f.read, "read", nil, "a path that the program may read")
	p.StringArrayVar(&f.write, "write", nil, "a path that the program may write")
	p.BoolVar(&f.disabled, "disabled", false, "add it switched off")
	p.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	p.BoolVar(&f.untested, "no-test", false, "do not connect to it first")
	nowFlag(cmd, &f.now)
	return cmd
}

// settings are what the flags say, and the secrets among them.
func (f flags) settings(name string, command []string) (map[string]any, map[string]string, error) {
	if (f.url == "") == (len(command) == 0) {
		return nil, nil, errors.New("give either --url or, after --, a command")
	}
	m := map[string]any{}
	if f.url != "" {
		m["url"] = f.url
	} else {
		m["command"] = command[0]
		if len(command) > 1 {
			m["args"] = anys(command[1:])
		}
	}
	for key, value := range map[string]string{"transport": f.transport, "auth": f.auth, "trust": f.trust} {
		if value != "" {
			m[key] = value
		}
	}
	if f.disabled {
		m["enabled"] = false
	}
	for _, list := range []struct {
		key, between string
		from         []string
	}{{"env", "=", f.env}, {"headers", ":", f.headers}} {
		values := map[string]any{}
		for _, pair := range list.from {
			k, v, ok := strings.Cut(pair, list.between)
			if !ok || strings.TrimSpace(k) == "" {
				return nil, nil, fmt.Errorf("%q is not NAME%sVALUE", text.VisibleName(k), list.between)
			}
			values[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
		if len(values) > 0 {
			m[list.key] = values
		}
	}
	reach := map[string]any{}
	for key, list := range map[string][]string{"hosts": f.hosts, "read": f.read, "write": f.write} {
		if len(list) > 0 {
			reach[key] = anys(list)
		}
	}
	if len(reach) > 0 {
		m["reach"] = reach
	}
	settings, secrets, _ := setting.ForConfig(name, m)
	return settings, secrets, nil
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// putting is how a server is added: without asking, without connecting to it first, and at once.
type putting struct{ yes, untested, now bool }

// put checks the settings of a server, connects to it, shows what it offers, asks, and keeps
// them with their secrets.
func (n noun) put(ctx context.Context, c *factory.Call, name string, settings map[string]any, secrets map[string]string, how putting) error {
	cfg, err := n.named(name)
	if err != nil {
		return err
	}
	if _, there := cfg.MCPServers()[name]; there {
		return fmt.Errorf("there is an MCP server %s already; remove it first with `hermes mcp remove %s`", name, name)
	}
	vars := app.MCPVars(cfg)
	lookup := vars.Lookup
	vars.Lookup = func(v string) (string, bool) {
		if s, ok := secrets[v]; ok {
			return s, true
		}
		return lookup(v)
	}
	s, notes, err := setting.Parse(name, settings, vars)
	if err != nil {
		return err
	}
	for _, note := range notes {
		c.Note("%s", note)
	}
	var server *mcp.Server
	var shown mcp.Listing
	login := s.Remote != nil && s.Remote.OAuth != nil
	if !how.untested && !login {
		var done func()
		if server, done, err = n.App().OpenMCP(ctx, s, false); err != nil {
			return fmt.Errorf("%s cannot be used: %w; nothing was changed (--no-test adds it all the same)", name, err)
		}
		defer done()
		shown = server.Listing()
		state := shown.State(server)
		c.Say("%s: %s %s, %s", name, state.Title, state.Version, text.Plural(len(state.Tools), "tool", "tools"))
		if err := tell(c, state); err != nil {
			return err
		}
	}
	c.Say("%s", text.Visible(n.Shown(where(s))))
	if !how.yes {
		if !n.Terminal() {
			return errNoTerminal
		}
		if err := n.Confirm(c.In, c.Out, "Add this server?"); err != nil {
			return err
		}
	}
	if err := write(ctx, cfg, name, settings, secrets); err != nil {
		return err
	}
	if server != nil { // what the user has seen is what is approved
		if err := n.App().KeepMCP(server, shown); err != nil {
			return fmt.Errorf("%s was added, but what is approved of it cannot be kept: %w", name, err)
		}
	}
	c.Say("Added %s.", name)
	if login {
		c.Say("Log in with `hermes mcp login %s`.", name)
	}
	return n.applied(ctx, c, how.now)
}

func (n noun) remove() *cobra.Command {
	var now bool
	cmd := factory.Verb("remove NAME", "Remove an MCP server from the settings", "hermes mcp remove notes", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		name := c.Arg(0)
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		if _, ok := cfg.MCPServers()[name]; !ok {
			return fmt.Errorf("there is no MCP server %q; `hermes mcp list` shows all", text.VisibleName(name))
		}
		if _, err := cfg.Unset(ctx, keyOf(name)); err != nil {
			return err
		}
		for _, secret := range setting.SecretsOf(name, slices.Collect(maps.Keys(cfg.MCPServers())), cfg.EnvNames()) {
			if _, err := cfg.Unset(ctx, secret); err != nil {
				return err
			}
			c.Say("Removed its secret %s.", secret)
		}
		if err := n.App().ForgetMCP(name); err != nil {
			return fmt.Errorf("%s was removed from the settings, but what is known of its tools was not: %w", name, err)
		}
		c.Say("Removed %s.", name)
		return n.applied(ctx, c, now)
	})
	nowFlag(cmd, &now)
	return cmd
}
