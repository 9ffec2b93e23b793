package services

import (
	"maps"

	"hermes/internal/config"
	"hermes/internal/provider"
	"hermes/internal/yamledit"
)

// shortNames are common short names; the user's aliases override them.
func shortNames() map[string]string {
	return map[string]string{
		"sonnet": "anthropic/claude-sonnet-4.6", "opus": "anthropic/claude-opus-4.6", "haiku": "anthropic/claude-haiku-4.5",
		"flash": "google/gemini-3-flash-preview",
	}
}

// withAliases adds model_aliases to the names of models. An alias with a base URL
// becomes a service of its own: under its name, unless the section providers or the
// catalogue has that name, whose keys must not go to the address of the alias.
func withAliases(c *provider.Config, entries map[string]config.ModelAlias, faults map[string]error) {
	all := shortNames()
	maps.Copy(all, c.Aliases)
	for name, e := range entries {
		fault := faults[yamledit.Join([]string{"model_aliases", name})]
		switch {
		case e.BaseURL != "" || fault != nil:
			id := name
			if _, taken := c.Custom[id]; taken || provider.Known(id) {
				id = "alias " + name
			}
			c.Custom[id] = provider.Custom{BaseURL: e.BaseURL, Key: e.APIKey, KeyEnv: e.KeyEnv, APIMode: e.APIMode, Model: e.Model, Fault: fault}
			all[name] = "custom:" + id + ":" + e.Model
		case e.Provider == "" || e.Provider == "auto":
			all[name] = e.Model
		default:
			all[name] = e.Provider + ":" + e.Model
		}
	}
	c.Aliases = all
}
