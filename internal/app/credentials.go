package app

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/credential"
	"hermes/internal/keychain"
	"hermes/internal/oauth"
	"hermes/internal/provider"
	"hermes/internal/services"
)

// makeCredentials opens the profile's keys and logins. It returns nil if there is no
// home.
func (a *App) makeCredentials() *credential.Store {
	cfg, err := a.config()
	if err != nil {
		return nil // reported where the configuration is used
	}
	return credential.Open(credential.Config{
		Path: cfg.Home().Auth(), Strategies: cfg.PoolStrategies(), Now: a.opts.Now,
		Login: func(pool string) (oauth.Config, bool) {
			l, ok := a.login(cfg, pool)
			return l.Config, ok
		},
		Keychain: keychain.New("hermes", a.opts.Getenv),
		UserHome: cmp.Or(a.opts.Getenv("HOME"), a.opts.Getenv("USERPROFILE")), Getenv: a.opts.Getenv, Programs: keychain.Programs(a.opts.Getenv),
		Lent: func(s hermes.Secret) { a.mask().Add(s.Reveal()) },
		Warn: func(text string, err error) { a.log().Warn(text, "err", err) },
	})
}

// keys returns the credentials of a pool; nil if there is no home.
func (a *App) keys(pool string, given []hermes.Key) hermes.Keys {
	store := a.credentials()
	if store == nil {
		return nil
	}
	return store.Pool(pool, given)
}

// Pool returns the credentials of a service, by its name or alias, and the name of
// their pool.
func (a *App) Pool(name string) (string, *credential.Pool, error) {
	models, err := a.models.Catalogue()
	if err != nil {
		return "", nil, err
	}
	pool, given, err := models.Pool(name)
	if err != nil {
		return "", nil, err
	}
	return pool, a.credentials().Pool(pool, given), nil
}

// PoolNames lists the services that have credentials from any source, sorted.
func (a *App) PoolNames() ([]string, error) {
	models, err := a.models.Catalogue()
	if err != nil {
		return nil, err
	}
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return a.credentials().Filled(models.Pools(slices.Collect(maps.Keys(cfg.Providers()))...))
}

// Login returns how to log in to the service of a pool, and whether enough of that
// is known.
func (a *App) Login(pool string) (credential.Login, bool) {
	cfg, err := a.config()
	if err != nil {
		return credential.Login{Provider: pool}, false
	}
	return a.login(cfg, pool)
}

// loginLacks lists the settings that the login of a pool still needs.
func (a *App) loginLacks(pool string) []string {
	cfg, err := a.config()
	if err != nil {
		return nil // reported where the configuration is used
	}
	l, _ := a.login(cfg, pool)
	return l.Lacks()
}

// login returns the login of a provider, and whether it is complete.
func (a *App) login(cfg *config.Config, pool string) (credential.Login, bool) {
	l := services.Login(cfg, pool)
	l.Client, l.Now = loginClient(cfg), a.opts.Now
	if on(cfg.Getenv("HERMES_OAUTH_TRACE")) {
		l.Trace = a.log()
	}
	return l, len(l.Lacks()) == 0
}

// on reports whether a variable that switches something on does so.
func on(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// loginClient makes the HTTP client for logins, with the configured proxy. An
// invalid proxy setting is reported where models are made.
func loginClient(cfg *config.Config) *http.Client {
	c, err := provider.Client(cfg.Getenv, "hermes/"+Version)
	if err != nil {
		return nil
	}
	return c
}
