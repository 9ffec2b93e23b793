package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/hostlist"
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
		c.Exempt = func(host string) bool {
			_, found := exempt.Match(strings.ToLower(strings.TrimSuffix(host, ".")), 443)
			return broken || found
		}
	}
	if cfg.Security().RedactSecrets {
		c.Mask = a.Mask
	}
	return web.New(c)
}

// webChoice reads which services the user chose, and their keys and addresses.
func webChoice(cfg *config.Config) web.Choice {
	s := cfg.Web()
	c := web.Choice{Search: cmp.Or(s.SearchBackend, s.Backend), Extract: s.ExtractBackend, Keyless: s.Keyless, Rescue: s.KeylessRescue}
	if b, ok := websearch.Find(s.Backend); c.Extract == "" && (!ok || b.Extracts()) {
		c.Extract = s.Backend
	}
	if c.Search == web.Own { // it reads pages only
		c.Search = ""
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
	return fmt.Sprintf("searches with %s, reads pages with %s", cmp.Or(search, "no service"), pages), err
}
