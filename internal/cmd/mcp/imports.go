package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/mcp/setting"
	"hermes/internal/text"
)

func (n noun) imports() *cobra.Command {
	var yes, off, now bool
	cmd := factory.Verb("import [FILE]", "Add the MCP servers of Claude, Cursor, VS Code and others", "hermes mcp import\n  hermes mcp import ~/.cursor/mcp.json", cobra.MaximumNArgs(1),
		func(ctx context.Context, c *factory.Call) error {
			files := c.Args
			if len(files) == 0 {
				home, err := os.UserHomeDir()
				if err != nil {
					return err
				}
				files = setting.Others(home)
			}
			found, err := read(c, files, len(c.Args) > 0)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return errors.New("no file of another program with MCP servers was found; name one")
			}
			return n.take(ctx, c, found, taking{yes, off, now})
		})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&off, "disabled", false, "add them switched off")
	nowFlag(cmd, &now)
	return cmd
}

// read reads the servers of files. A file that is not there is an error only if it was named.
func read(c *factory.Call, files []string, named bool) (map[string]map[string]any, error) {
	found := map[string]map[string]any{}
	for _, path := range files {
		in, err := c.Input(path)
		if errors.Is(err, fs.ErrNotExist) && !named {
			continue
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(in, 16<<20))
		in.Close()
		if err != nil {
			return nil, err
		}
		servers, err := setting.ReadFile(data)
		if err != nil {
			if named {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		for name, m := range servers {
			if found[name] == nil {
				found[name] = m
			}
		}
	}
	return found, nil
}

// taking says how servers are added.
type taking struct{ yes, off, now bool }

// take adds servers that are not there yet. They are not started to look at them: an import of many
// would start all their programs at once. Sessions that run start them with now.
func (n noun) take(ctx context.Context, c *factory.Call, found map[string]map[string]any, how taking) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	there := cfg.MCPServers()
	type one struct {
		settings map[string]any
		secrets  map[string]string
	}
	list := map[string]one{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		settings, secrets, left := setting.ForConfig(name, found[name])
		_, _, err := setting.Parse(name, settings, app.MCPVars(cfg))
		_, taken := there[name]
		switch {
		case taken:
			c.Say("%s is there already.", text.VisibleName(name))
			continue
		case err != nil:
			c.Note("%v; it is left out", err)
			continue
		}
		if _, err := n.named(name); err != nil {
			c.Note("%v; it is left out", err)
			continue
		}
		if how.off {
			settings["enabled"] = false
		}
		all, err := json.Marshal(settings) // all of it: a variable or a path may matter more than the command
		if err != nil {
			return err
		}
		c.Say("%s: %s", name, text.Visible(n.Shown(string(all))))
		if len(left) > 0 {
			c.Say("  without %s, which have no effect here", text.Visible(strings.Join(left, ", ")))
		}
		list[name] = one{settings, secrets}
	}
	if len(list) == 0 {
		return nil
	}
	if !how.yes {
		if !n.Terminal() {
			return errNoTerminal
		}
		if err := n.Confirm(c.In, c.Out, "Add "+text.Plural(len(list), "this server", "these servers")+"?"); err != nil {
			return err
		}
	}
	added := false
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if err = write(ctx, cfg, name, list[name].settings, list[name].secrets); err != nil {
			break
		}
		c.Say("Added %s.", name)
		added = true
	}
	if added { // those before an error, too
		err = errors.Join(err, n.applied(ctx, c, how.now))
	}
	return err
}

// write writes the settings and secrets of a server.
func write(ctx context.Context, cfg *config.Config, name string, settings map[string]any, secrets map[string]string) error {
	if err := free(cfg, secrets); err != nil {
		return err
	}
	for _, v := range slices.Sorted(maps.Keys(secrets)) {
		if _, err := cfg.SetEnv(ctx, v, secrets[v]); err != nil {
			return err
		}
	}
	_, err := cfg.Put(ctx, keyOf(name), settings)
	return err
}
