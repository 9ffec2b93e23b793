// Package config reads what the person has set, in config.yaml and .env, and
// hands it out as small structs by value.
//
// Precedence: what an administrator pinned, the command line, config.yaml, the
// environment and .env, the default. Every key is one field of Settings
// (settings.go and section_*.go), whose tags hold its name, default and limits;
// decode.go reads them, check.go finds faults, edit.go and migrate.go change the
// files without touching what they need not.
//
// A fault never stops a run: a value that cannot be used gives way to the next
// one, a file that cannot be read gives way to its newest good copy, and Warnings
// tells the person. Only app, setup and cmd import this package. Start at Load.
package config

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"hermes/internal/home"
)

// Options steer Load. The zero value reads the home with the real environment.
type Options struct {
	// IgnoreUser leaves config.yaml unread; .env still counts.
	IgnoreUser bool
	// Flags are settings of the command line, dotted key to text. A flag that was
	// not given must not be in it.
	Flags map[string]string
	// LookupEnv answers for the process environment; nil is os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Managed is a file whose settings win over everybody's. "" is ManagedFile();
	// "-" is none.
	Managed string
	// Journal does a change of config.yaml so that it can be taken back; nil
	// just does it. The .env file never passes it: it holds secrets.
	Journal func(ctx context.Context, what, path string, write func() error) error
	// Toolset reports whether a name is that of a toolset or a tool, and lists
	// the names there are; nil knows nothing and leaves them unchecked.
	Toolset func(c *Config, name string) (known bool, names []string)
	// Now is the clock for the names of copies; nil is time.Now.
	Now func() time.Time
}

// Config is what was read. It does not change and may be used concurrently;
// variables of the environment are looked up at every call, so that a section
// asked for later has their later values.
type Config struct {
	home     home.Dir
	options  Options
	layers   []layer // the strongest first
	problems []Problem
	broken   bool
	env      func() envFile
}

// Load reads the configuration of a home. It never fails: what cannot be used
// is replaced as the package comment says and stands in Warnings. Where no file
// is, nothing is read or created. When config.yaml was changed and is good, a
// copy is kept below backups/config.
func Load(h home.Dir, o Options) *Config {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Managed == "" {
		o.Managed = ManagedFile()
	}
	c := &Config{home: h, options: o}
	c.env = sync.OnceValue(c.readEnv)
	c.loadManaged()
	c.loadFlags()
	if !o.IgnoreUser {
		c.loadUser()
	}
	return c
}

// Home is the home that the configuration was read from.
func (c *Config) Home() home.Dir { return c.home }

// Broken reports whether config.yaml is there but could not be used, so that an
// older copy or the defaults are served. A service should not start then.
func (c *Config) Broken() bool { return c.broken }

// LookupEnv answers for a variable: the process environment, then .env.
func (c *Config) LookupEnv(name string) (string, bool) {
	if value, ok := c.options.LookupEnv(name); ok && value != "" {
		return value, true
	}
	value, ok := c.env().values[name]
	return value, ok
}

// Getenv is LookupEnv with "" for a variable that is not set.
func (c *Config) Getenv(name string) string {
	value, _ := c.LookupEnv(name)
	return value
}

// Overridden reports whether the environment has another say than .env about a
// variable: the environment wins.
func (c *Config) Overridden(name string) bool {
	value, ok := c.options.LookupEnv(name)
	return ok && value != "" && value != c.env().values[name]
}

// EnvNames lists the variables that .env sets, sorted, for those who must keep
// them from children or find their values in output.
func (c *Config) EnvNames() []string { return slices.Sorted(maps.Keys(c.env().values)) }
