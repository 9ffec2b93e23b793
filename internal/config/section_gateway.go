package config

import (
	"time"

	"hermes"
)

// Streaming is the section streaming: how a gateway shows an answer while it is written.
type Streaming struct {
	Enabled         bool          `key:"enabled"`
	Transport       string        `key:"transport" default:"auto" oneof:"auto edit off"`
	EditInterval    time.Duration `key:"edit_interval" default:"0.8"`
	BufferThreshold int           `key:"buffer_threshold" default:"24" min:"1"` // characters
	Cursor          string        `key:"cursor" default:" ▉"`
	FreshFinalAfter time.Duration `key:"fresh_final_after_seconds"` // 0: never
}

// Platform is one entry of the section platforms.
type Platform struct {
	Enabled     bool           `key:"enabled"`
	Token       hermes.Secret  `key:"token"`
	ReplyToMode string         `key:"reply_to_mode"`
	HomeChannel map[string]any `key:"home_channel"`
	Extra       map[string]any `key:"extra"`
	Rest        map[string]any `key:"*"` // settings of the platform's adapter
}

// Discord is the section discord.
type Discord struct {
	RequireMention       bool     `key:"require_mention" default:"true"`
	FreeResponseChannels []string `key:"free_response_channels"`
	AutoThread           bool     `key:"auto_thread" default:"true"`
}

// HumanDelay is the section human_delay: pauses between messages.
type HumanDelay struct {
	Mode string `key:"mode" default:"off" oneof:"off natural custom"`
	Min  int    `key:"min_ms" default:"800" min:"0"`  // milliseconds
	Max  int    `key:"max_ms" default:"2500" min:"0"` // milliseconds
}

// Streaming returns the section streaming.
func (c *Config) Streaming() Streaming { return section[Streaming](c, "streaming") }

// Platforms returns the section platforms.
func (c *Config) Platforms() map[string]Platform { return section[map[string]Platform](c, "platforms") }

// Discord returns the section discord.
func (c *Config) Discord() Discord { return section[Discord](c, "discord") }

// HumanDelay returns the section human_delay.
func (c *Config) HumanDelay() HumanDelay { return section[HumanDelay](c, "human_delay") }

// QuickCommands returns quick_commands.
func (c *Config) QuickCommands() map[string]any { return section[map[string]any](c, "quick_commands") }

// PlatformToolsets returns platform_toolsets: platform to toolsets.
func (c *Config) PlatformToolsets() map[string][]string {
	return section[map[string][]string](c, "platform_toolsets")
}

// CustomToolsets returns custom_toolsets.
func (c *Config) CustomToolsets() map[string]any {
	return section[map[string]any](c, "custom_toolsets")
}

// MCPServers returns mcp_servers.
func (c *Config) MCPServers() map[string]any { return section[map[string]any](c, "mcp_servers") }

// Hooks returns hooks. Texts of commands are as they are written: a shell reads their variables.
func (c *Config) Hooks() map[string]any { return section[map[string]any](c, "hooks") }

// Free returns a section without fixed keys, which its reader defines: secrets, proxy,
// kanban, bot_peers, dashboard.
func (c *Config) Free(name string) map[string]any { return section[map[string]any](c, name) }
