package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
	"hermes/internal/text"
)

// row is a server as `hermes mcp list --json` prints it.
type row struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // program, http or sse
	Where   string   `json:"where"`
	Enabled bool     `json:"enabled"`
	Tools   []string `json:"tools,omitempty"` // as they were known last
	Blocked []string `json:"blocked,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := factory.Verb("list", "List the MCP servers of the settings", "hermes mcp list", cobra.NoArgs, func(_ context.Context, c *factory.Call) error {
		rows, err := n.rows()
		switch {
		case err != nil:
			return err
		case asJSON:
			return factory.WriteJSON(c.Out, rows)
		case len(rows) == 0:
			c.Say("No MCP servers. Add one with `hermes mcp add`, or see `hermes mcp catalog`.")
			return nil
		}
		t := factory.Table{Fit: n.Width()}
		t.Row("NAME", "STATE", "TOOLS", "WHERE")
		for _, r := range rows {
			state := "on"
			switch {
			case r.Problem != "":
				state = "wrong"
			case !r.Enabled:
				state = "off"
			case len(r.Blocked) > 0:
				state = fmt.Sprintf("%d to approve", len(r.Blocked))
			}
			count := "?"
			if len(r.Tools) > 0 {
				count = fmt.Sprint(len(r.Tools))
			}
			t.Row(text.VisibleName(r.Name), state, count, text.Visible(r.Where+r.Problem))
		}
		return t.Print(c.Out)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (n noun) rows() ([]row, error) {
	cfg, err := n.Config()
	if err != nil {
		return nil, err
	}
	known := map[string]mcp.State{}
	for _, s := range n.App().KnownMCP() {
		known[s.Name] = s
	}
	rows := []row{}
	raw := cfg.MCPServers()
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		r := row{Name: name, Kind: "program"}
		s, _, err := setting.Parse(name, raw[name], app.MCPVars(cfg))
		if err != nil {
			r.Problem = err.Error()
		}
		r.Enabled, r.Where = err == nil && !s.Disabled, n.Shown(where(s))
		if s.Remote != nil {
			r.Kind = "http"
			if s.Remote.SSE {
				r.Kind = "sse"
			}
		}
		for _, t := range known[name].Tools {
			r.Tools = append(r.Tools, t.Name)
		}
		for _, t := range blocked(known[name]) {
			r.Blocked = append(r.Blocked, t.Original)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (n noun) test() *cobra.Command {
	return factory.Verb("test NAME", "Connect to an MCP server and list its tools", "hermes mcp test github", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		s, err := n.there(c.Arg(0))
		if err != nil {
			return err
		}
		began := n.Now()
		server, done, err := n.App().OpenMCP(ctx, s, true)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		defer done()
		state := server.State()
		c.Say("%s answers in %s: %s %s, protocol %s, %s", s.Name, n.Now().Sub(began).Round(time.Millisecond), state.Title, state.Version, state.Protocol, text.Plural(len(state.Tools), "tool", "tools"))
		return tell(c, state)
	})
}
