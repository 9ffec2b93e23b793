package config

// MCP is what holds for all MCP servers.
type MCP struct {
	DeferTokens int `key:"defer_tokens" default:"4000" min:"0"` // tools of servers are offered up to this many tokens together, else found by tool_search; 0: always offered
}

// MCP returns the section mcp.
func (c *Config) MCP() MCP { return section[MCP](c, "mcp") }
