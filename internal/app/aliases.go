package app

import (
	"maps"

	"hermes/internal/config"
	"hermes/internal/provider"
)

// shortNames are common short names; the user's aliases override them.
func shortNames() map[string]string {
	return map[string]string{
		"sonnet": "anthropic/claude-sonnet-4.6", "opus": "anthropic/claude-opus-4.6", "haiku": "anthropic/claude-haiku-4.5",
		"flash": "google/gemini-3-flash-preview",
	}
}

// withAliases adds model_aliases to the names of models. An alias with a base URL
// becomes a custom service of that name, unless there is one already.
func withAliases(c *provider.Config, entries map[string]config.ModelAlias) {
	all := shortNames()
	maps.Copy(all, c.Aliases)
	for name, e := range entries {
		switch _, taken := c.Custom[name]; {
		case e.BaseURL != "" && !taken:
			c.Custom[name] = provider.Custom{BaseURL: e.BaseURL, Key: e.APIKey, KeyEnv: e.KeyEnv, APIMode: e.APIMode, Model: e.Model}
			all[name] = "custom:" + name + ":" + e.Model
		case e.Provider == "" || e.Provider == "auto":
			all[name] = e.Model
		default:
			all[name] = e.Provider + ":" + e.Model
		}
	}
	c.Aliases = all
}
