package app

import (
	"cmp"
	"slices"

	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/services"
)

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
	return slices.Concat(cfg.Secrets(), a.logins(), environment.Secrets(a.opts.Environ(), services.KeyOf(cfg)))
}

// logins returns the keys and tokens that were stored by logging in.
func (a *App) logins() []string {
	var out []string
	for _, s := range a.credentials().Secrets() {
		out = append(out, s.Reveal())
	}
	return out
}
