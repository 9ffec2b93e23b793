package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/hostlist"
	"hermes/internal/netguard"
	"hermes/internal/tool/web"
	"hermes/internal/toolbox"
	"hermes/internal/websearch"
)

// newWeb makes the tools that search the web and read pages.
func (a *App) newWeb(cfg *config.Config) *web.Toolset {
	s := cfg.Web()
	c := web.Config{
		Choice: webChoice(cfg), Guard: a.webGuard, UserAgent: "hermes/" + Version, CharLimit: s.CharLimit, Timeout: s.Timeout,
		Secret: func(text string) bool { return len(a.mask().Hidden(text)) > 0 },
		Save:   toolbox.Spillover{Dir: cfg.Home().Cache("web")}.Keep, Now: a.opts.Now,
		Summarise: func(ctx context.Context, s hermes.SessionRef, question, title, text string) (string, error) {
			return a.aux().ReadPage(ctx, s.Model, s.ID, question, title, text)
		},
	}
	if !cfg.Auxiliary("web_extract").Enabled {
		c.Summarise = nil
	}
	if s.Cache {
		c.Remember = time.Duration(s.CacheMinutes) * time.Minute
	}
	if exempt := (&hostlist.Source{Entries: s.CacheExempt, Now: a.opts.Now}); len(s.CacheExempt) > 0 {
		broken := exempt.Err() != nil // what cannot be read may be any host
		c.Exempt = func(at *url.URL) bool {
			host, err := netguard.Canonical(at.Hostname())
			_, found := exempt.Match(host, portOf(at))
			return broken || err != nil || found
		}
	}
	if cfg.Security().RedactSecrets {
		c.Mask = a.Mask
	}
	return web.New(c)
}

// portOf returns the port of an address of the web, 0 if it cannot be read.
func portOf(at *url.URL) uint16 {
	usual := "443"
	if at.Scheme == "http" {
		usual = "80"
	}
	n, _ := strconv.ParseUint(cmp.Or(at.Port(), usual), 10, 16)
	return uint16(n)
}

// webChoice reads which services the user chose, and their keys and addresses.
func webChoice(cfg *config.Config) web.Choice {
	s := cfg.Web()
	c := web.Choice{Search: s.SearchBackend, Extract: s.ExtractBackend, Keyless: s.Keyless, Rescue: s.KeylessRescue}
	if c.Search == "" && !web.IsOwn(s.Backend) { // that one reads pages only
		c.Search, c.SearchSetting = s.Backend, "web.backend"
	}
	if b, ok := websearch.Find(s.Backend); c.Extract == "" && (!ok || b.Extracts()) {
		c.Extract, c.ExtractSetting = s.Backend, "web.backend"
	}
	for _, b := range websearch.Backends() {
		one := websearch.Service{Backend: b, At: cfg.Getenv(b.Address)}
		var key hermes.Secret
		for _, name := range b.Keys {
			key = cmp.Or(key, hermes.Secret(cfg.Getenv(name)))
		}
		one.Key = key.Reveal
		switch b.Name {
		case "parallel":
			one.Thorough = s.ProviderTier.Parallel == "paid"
		case "exa":
			one.Thorough = s.ProviderTier.Exa == "paid"
		}
		c.Services = append(c.Services, one)
	}
	return c
}

// WebServices says in words which services search the web and read pages, and what is wrong with the settings.
func (a *App) WebServices() (string, error) {
	cfg, err := a.config()
	if err != nil {
		return "", err
	}
	search, pages, err := webChoice(cfg).Describe()
	if wrong := (&hostlist.Source{Entries: cfg.Web().CacheExempt}).Err(); wrong != nil {
		err = errors.Join(err, fmt.Errorf("web.cache_exempt_hosts: %w; no page is kept until that is right", wrong))
	}
	return fmt.Sprintf("searches with %s, reads pages with %s", cmp.Or(search, "no service"), pages), err
}
