package app

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/credential"
	"hermes/internal/environment"
	"hermes/internal/keychain"
	"hermes/internal/oauth"
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
			l, ok := a.logins(cfg).Of(pool)
			return l.Config, ok
		},
		Keychain: keychain.New("hermes", a.opts.Getenv),
		UserHome: cmp.Or(a.opts.Getenv("HOME"), a.opts.Getenv("USERPROFILE")), Getenv: a.opts.Getenv, Programs: keychain.Programs(a.opts.Getenv),
		Lent: func(s hermes.Secret) {
			if !cfg.Placeholder(s.Reveal()) {
				a.mask().Add(s.Reveal())
			}
		},
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
	cfg, _ := a.config() // the catalogue has read it
	return a.credentials().Filled(models.Pools(slices.Collect(maps.Keys(cfg.Providers()))...))
}

// Login returns how to log in to the service of a pool, and whether enough of that
// is known.
func (a *App) Login(pool string) (credential.Login, bool) {
	cfg, err := a.config()
	if err != nil {
		return credential.Login{Provider: pool}, false
	}
	return a.logins(cfg).Of(pool)
}

func (a *App) logins(cfg *config.Config) services.Logins {
	return services.Logins{Config: cfg, UserAgent: "hermes/" + Version, Now: a.opts.Now, Log: a.log}
}

// keyOf returns the func that says whose key a variable holds, "" if it holds no key
// of Hermes. Variables with such keys never reach commands.
func keyOf(cfg *config.Config) func(name string) string {
	ofService := services.KeyOf(cfg)
	return func(name string) string { return cmp.Or(environment.KeyOf(name), ofService(name)) }
}

// secrets returns the values that are masked wherever they would be shown: of
// settings, of variables, and of logins.
func (a *App) secrets() []string {
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	environ := slices.DeleteFunc(slices.Clone(a.opts.Environ()), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return cfg.PlaceholderOf(name, value)
	})
	return slices.Concat(cfg.Secrets(), declaredValues(cfg), a.credentials().Secrets(), environment.Secrets(environ, services.KeyOf(cfg)))
}
