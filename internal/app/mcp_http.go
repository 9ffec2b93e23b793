package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/mcp"
	"hermes/internal/mcp/login"
	"hermes/internal/mcp/remote"
	"hermes/internal/mcp/setting"
)

// serverClient makes the HTTP client for an MCP server. It sends the login that
// `hermes mcp login` has kept, unless the settings have a key for the server. unsaved is shared by the
// connections of the program.
func (a *App) serverClient(cfg *config.Config, s setting.Server, unsaved *login.Unsaved) (*http.Client, error) {
	link, err := a.serverLink(cfg, s)
	if err != nil {
		return nil, err
	}
	if hasKey(s) {
		return link.Server, nil
	}
	return a.serverLogin(cfg, s, link, unsaved).Through(link.Server), nil
}

// serverLink makes what reaches an MCP server, with the proxies and the address guard of the
// tools.
func (a *App) serverLink(cfg *config.Config, s setting.Server) (*remote.Link, error) {
	guard, err := a.webGuard()
	if err != nil {
		return nil, err
	}
	r := s.Remote
	headers := maps.Clone(r.Headers)
	if r.OAuth != nil { // the login is the key
		maps.DeleteFunc(headers, func(name, _ string) bool { return strings.EqualFold(name, "Authorization") })
	}
	if r.IdentityHeader != "" {
		headers[r.IdentityHeader] = cfg.Home().Profile()
	}
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	file := func(path string) string { return home.Expand(path, userHome) }
	return remote.New(remote.Config{
		URL: r.URL, Headers: headers, Guard: *guard, UserAgent: "hermes/" + Version,
		TLS: remote.TLS{Cert: file(r.TLS.Cert), Key: file(r.TLS.Key), CA: file(r.TLS.CA), Insecure: r.TLS.Insecure},
	})
}

// hasKey reports whether the settings have the key for a server.
func hasKey(s setting.Server) bool {
	if s.Remote.OAuth != nil {
		return false
	}
	for name := range s.Remote.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// serverLogin makes the login at an MCP server. Tokens are kept in mcp-tokens of the home, in
// one file for each server.
func (a *App) serverLogin(cfg *config.Config, s setting.Server, link *remote.Link, unsaved *login.Unsaved) *login.Login {
	c := login.Config{
		Server: s.Name, URL: s.Remote.URL, SSE: s.Remote.SSE, Link: link, Now: a.opts.Now,
		Path: tokensOf(cfg, s), Unsaved: unsaved, Log: a.log(),
	}
	if o := s.Remote.OAuth; o != nil {
		c.Client = login.Client{ID: o.ClientID, Secret: o.ClientSecret, Name: o.ClientName, Document: o.MetadataURL}
		c.Scope, c.Redirect = o.Scope, login.Redirect{Host: o.RedirectHost, Port: o.RedirectPort, URI: o.RedirectURI}
	}
	return login.New(c)
}

// tokensOf is the file with the login at a server. Those of projects have a part of the hash of
// their ID in the name, so that no project reads or replaces the login at another server of its name.
func tokensOf(cfg *config.Config, s setting.Server) string {
	name := strings.TrimPrefix(mcp.ToolsetName(s.Name), "mcp-")
	if s.Project != "" {
		sum := sha256.Sum256([]byte(s.ID()))
		name += "-" + hex.EncodeToString(sum[:8]) // no name of a server has a hyphen here
	}
	return cfg.Home().Join("mcp-tokens", name+".json")
}

// ServerLogin returns the login at an MCP server of the settings, and whether it is one by a
// code. An error says why there is none.
func (a *App) ServerLogin(name string) (l *login.Login, device bool, err error) {
	cfg, err := a.config()
	if err != nil {
		return nil, false, err
	}
	list, notes := a.mcpSettings(cfg)
	for _, s := range list {
		switch {
		case s.Name != name:
			continue
		case s.Remote == nil:
			return nil, false, fmt.Errorf("the MCP server %s is a program; only servers with a url have a login", name)
		case hasKey(s):
			return nil, false, fmt.Errorf("the MCP server %s has a key in its headers; remove the header Authorization to log in instead", name)
		}
		link, err := a.serverLink(cfg, s)
		if err != nil {
			return nil, false, fmt.Errorf("the MCP server %s: %w", name, err)
		}
		return a.serverLogin(cfg, s, link, nil), s.Remote.OAuth != nil && s.Remote.OAuth.Device, nil
	}
	for _, n := range notes { // perhaps that is why
		a.log().Warn("MCP servers", "note", n)
	}
	return nil, false, fmt.Errorf("there is no MCP server %s in mcp_servers of config.yaml", name)
}
