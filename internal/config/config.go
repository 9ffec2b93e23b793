// Package config reads the user's settings from config.yaml and .env and returns
// them as small structs by value.
//
// Precedence, highest first: the administrator's file, the command line,
// config.yaml, the environment and .env, the default. Every key is one field of
// Settings (settings.go and section_*.go); its tags hold name, default and limits.
// decode.go reads the settings, check.go finds problems, edit.go and migrate.go
// change single keys and keep the rest of the file.
//
// A problem never stops a run. Instead of an invalid value the next source is used,
// instead of an unreadable file its newest good copy; Warnings reports both.
// Only app, setup and cmd import this package. Start at Load.
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

// Options configure Load. The zero value reads the home with the real environment.
type Options struct {
	// IgnoreUser skips config.yaml; .env is still read.
	IgnoreUser bool
	// Flags are settings of the command line, dotted key to text. It must hold only
	// flags that were given.
	Flags map[string]string
	// LookupEnv reads the process environment; nil is os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Managed is the administrator's file, whose settings override all others.
	// "" is ManagedFile(); "-" is none.
	Managed string
	// Journal makes a change of config.yaml so that it can be undone; nil just
	// makes it. Changes of .env are not recorded, because it holds secrets.
	Journal func(ctx context.Context, what, path string, write func() error) error
	// Toolset reports whether a toolset or tool has this name, and lists all
	// names. With nil, names are not checked.
	Toolset func(c *Config, name string) (known bool, names []string)
	// Coming reports whether a toolset has this name that a later version brings; nil knows none.
	Coming func(c *Config, name string) bool
	// Hooks returns what is wrong in the section hooks. With nil, it is not checked.
	Hooks func(c *Config) []HookFault
	// KeyOf returns a func that says whose key a variable holds if it never reaches
	// commands, and "" for others. With nil, lists of variables for commands are
	// not checked.
	KeyOf func(c *Config) func(name string) string
	// Now is the clock that names backup copies; nil is time.Now.
	Now func() time.Time
}

// Config is the configuration that was read. It does not change and may be used
// concurrently. Environment variables are looked up at every call, so a section
// that is read later has their later values. What it takes a look at every setting to
// know (Check, Secrets and the like) is found out once.
type Config struct {
	home     home.Dir
	options  Options
	layers   []layer // highest precedence first
	problems []Problem
	// spendLost are the files whose section spend is not used as written.
	spendLost []Problem
	unread    error // why the settings file is not used, and no copy of it
	broken    bool
	env       func() envFile
	keys      func() keys
	checked   func() []Problem
}

// Load reads the configuration of a home. It never fails: what cannot be used is
// replaced as the package comment says and listed by Warnings. It creates no
// missing file. If config.yaml is good and was changed, a copy is kept below
// backups/config.
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
	c := newConfig(h, o)
	c.env = sync.OnceValue(c.readEnv)
	c.loadManaged()
	c.loadFlags()
	if !o.IgnoreUser {
		c.loadUser()
	}
	return c
}

func newConfig(h home.Dir, o Options) *Config {
	c := &Config{home: h, options: o}
	c.keys, c.checked = sync.OnceValue(c.readKeys), sync.OnceValue(c.check)
	return c
}

// Home returns the home that the configuration was read from.
func (c *Config) Home() home.Dir { return c.home }

// Broken reports whether config.yaml exists but could not be used, so that an
// older copy or the defaults are used. A service should not start then.
func (c *Config) Broken() bool { return c.broken }

// LookupEnv looks up a variable in the process environment, then in .env.
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

// Overridden reports whether the process environment sets a variable to another
// value than .env does. The environment takes precedence.
func (c *Config) Overridden(name string) bool {
	value, ok := c.options.LookupEnv(name)
	return ok && value != "" && value != c.env().values[name]
}

// Stored returns the value that .env has for a variable, even if the process
// environment overrides it.
func (c *Config) Stored(name string) string { return c.env().values[name] }

// EnvNames lists the variables that .env sets, sorted. Callers hide them from
// child processes and redact their values in output.
func (c *Config) EnvNames() []string { return slices.Sorted(maps.Keys(c.env().values)) }
