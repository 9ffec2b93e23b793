// Package mcp holds the command `hermes mcp`: the MCP servers whose tools Hermes uses, and serve,
// which lends the sessions of this Hermes to MCP clients.
//
// It reads flags, asks the user and changes the settings. What a server is, how it is reached and
// what it may do is decided in internal/mcp. Start at NewCmd.
package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
	"hermes/internal/text"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes mcp`; without a verb it lists the servers.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	return factory.Noun("mcp", "Use MCP servers, and be one", "hermes mcp list\n  hermes mcp add notes -- npx -y notes-server\n  hermes mcp install github",
		n.list(), n.add(), n.remove(), n.test(), n.configure(), n.catalog(), n.install(), n.imports(), n.login(), n.logout(), newServe(f))
}

// keyOf is the key of a server in the settings.
func keyOf(name string) string { return "mcp_servers." + name }

// named refuses a name that no server can have. It returns the settings as they are now.
func (n noun) named(name string) (*config.Config, error) {
	if name == "" || len(name) > 40 || strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) >= 0 {
		return nil, fmt.Errorf("the name %q cannot be used; take letters, digits, - and _, 40 at most", text.VisibleName(name))
	}
	cfg, err := n.Config()
	if err != nil {
		return nil, err
	}
	for other := range cfg.MCPServers() {
		if other != name && strings.EqualFold(mcp.ToolsetName(other), mcp.ToolsetName(name)) {
			return nil, fmt.Errorf("there is an MCP server %s, which models could not tell from %s; take another name", text.VisibleName(other), name)
		}
	}
	return cfg, nil
}

// free refuses secrets whose variables have another value already.
func free(cfg *config.Config, secrets map[string]string) error {
	for v, value := range secrets {
		if was := cfg.Stored(v); was != "" && was != value {
			return fmt.Errorf("the variable %s has another value in the file of secrets; remove it with `hermes config unset %s`, or take another name for the server", v, v)
		}
	}
	return nil
}

// there returns the settings of a server by its name.
func (n noun) there(name string) (setting.Server, error) {
	cfg, err := n.Config()
	if err != nil {
		return setting.Server{}, err
	}
	raw, ok := cfg.MCPServers()[name]
	if !ok {
		return setting.Server{}, fmt.Errorf("there is no MCP server %q; `hermes mcp list` shows all", text.VisibleName(name))
	}
	s, notes, err := setting.Parse(name, raw, app.MCPVars(cfg))
	for _, note := range notes {
		fmt.Fprintln(n.Err, note)
	}
	return s, err
}

// where says how a server is reached, without its secrets.
func where(s setting.Server) string {
	if s.Remote != nil {
		u, err := url.Parse(s.Remote.URL)
		if err != nil {
			return "an address that is malformed"
		}
		hidden := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path} // a query or a user name may be a key
		return text.OneLine(hidden.String(), 200)
	}
	return text.OneLine(strings.Join(append([]string{s.Command}, s.Args...), " "), 200)
}

// tell shows what a server offers.
func tell(c *factory.Call, s mcp.State) error {
	var t factory.Table
	for _, tool := range s.Tools {
		about := text.OneLine(tool.Description, 100)
		if tool.Blocked != "" {
			about = "NOT APPROVED: " + tool.Blocked
		}
		t.Row("  "+text.VisibleName(tool.Name), text.VisibleName(about))
	}
	return t.Print(c.Out)
}

// blocked lists the tools that wait for an approval.
func blocked(s mcp.State) []mcp.ToolState {
	return slices.DeleteFunc(slices.Clone(s.Tools), func(t mcp.ToolState) bool { return t.Blocked == "" })
}

var errNoTerminal = errors.New("there is no terminal to ask on; use --yes if you have looked at it")
