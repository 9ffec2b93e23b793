package services

import (
	"cmp"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"hermes/internal/config"
	"hermes/internal/credential"
	"hermes/internal/provider"
)

// Logins says how to log in to services.
type Logins struct {
	Config    *config.Config
	UserAgent string
	Now       func() time.Time
	Log       func() *slog.Logger // for the trace that HERMES_OAUTH_TRACE switches on
}

// Of returns how to log in to the service of a pool, and whether enough of that is known. The
// settings override the built-in values.
func (o Logins) Of(pool string) (l credential.Login, complete bool) {
	l = credential.Login{Provider: pool}
	rows := credential.Logins()
	if i := slices.IndexFunc(rows, func(r credential.Login) bool { return r.Provider == pool }); i >= 0 {
		l = rows[i]
	}
	set := o.Config.Providers()[strings.TrimPrefix(pool, "custom:")].OAuth
	l.ClientID = cmp.Or(set.ClientID, l.ClientID)
	l.ClientSecret = cmp.Or(set.ClientSecret.Reveal(), l.ClientSecret)
	l.AuthURL = cmp.Or(set.AuthURL, l.AuthURL)
	l.TokenURL = cmp.Or(set.TokenURL, l.TokenURL)
	l.DeviceURL = cmp.Or(set.DeviceURL, l.DeviceURL)
	l.Redirect = cmp.Or(set.Redirect, l.Redirect)
	if len(set.Scopes) > 0 {
		l.Scopes = set.Scopes
	}
	if len(set.Params) > 0 {
		params := map[string]string{}
		maps.Copy(params, l.Params)
		maps.Copy(params, set.Params)
		l.Params = params
	}
	l.Client, l.Now = Client(o.Config, o.UserAgent), o.Now
	if on(o.Config.Getenv("HERMES_OAUTH_TRACE")) {
		l.Trace = o.Log()
	}
	return l, len(l.Lacks()) == 0
}

// Lacks lists the settings that the login of a pool still needs.
func (o Logins) Lacks(pool string) []string {
	l, _ := o.Of(pool)
	return l.Lacks()
}

// Client returns the HTTP client for logins, with the configured proxy; nil if its setting is
// invalid, which is reported where models are made.
func Client(cfg *config.Config, userAgent string) *http.Client {
	c, err := provider.Client(cfg.Getenv, userAgent)
	if err != nil {
		return nil
	}
	return c
}

// on reports whether a variable that switches something on does so.
func on(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}
