package config

// Plugins is the section plugins.
type Plugins struct {
	Enabled  []string `key:"enabled"`  // names of installed plugins that are used; `hermes plugins enable` adds one after you looked at it
	Disabled []string `key:"disabled"` // names that are not used although they are enabled
}

// Plugins returns the section plugins.
func (c *Config) Plugins() Plugins { return section[Plugins](c, "plugins") }
