package app

import (
	"hermes/internal/config"
	"hermes/internal/hostlist"
)

// knownHosts returns whether the user knows a host by the settings. An entry that is not valid
// makes none known.
func (a *App) knownHosts(cfg *config.Config) func(host string) bool {
	list := &hostlist.Source{Entries: cfg.Security().KnownHosts, Now: a.opts.Now}
	if err := list.Err(); err != nil {
		a.log().Warn("entries of security.known_hosts are not used", "err", err)
	}
	return func(host string) bool {
		_, known := list.Match(host, 443)
		return known
	}
}
