package services

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"hermes/internal/config"
	"hermes/internal/credential"
	"hermes/internal/provider"
)

// KeyOf returns the func that says whose key a variable holds, "" if it holds no key of a
// model service and none that the settings name. Variables with keys never reach commands.
func KeyOf(cfg *config.Config) func(name string) string {
	models, set, signs := provider.KeyVariables(), cfg.KeyVariables(), signsWithAWS(cfg)
	return func(name string) string {
		upper := strings.ToUpper(name)
		if title := models[strings.TrimRight(upper, "_0123456789")]; title != "" {
			return "a key of " + title
		}
		if signs && (upper == "AWS_SECRET_ACCESS_KEY" || upper == "AWS_SESSION_TOKEN" || upper == "AWS_ACCESS_KEY_ID") {
			return "the key of Amazon Bedrock"
		}
		if key := set[name]; key != "" {
			return "the key that " + key + " names"
		}
		return ""
	}
}

// signsWithAWS reports whether model calls are signed with the variables of AWS.
// Otherwise these are for the user's own commands.
func signsWithAWS(cfg *config.Config) bool {
	bedrock := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			n = strings.ToLower(n)
			return n == "bedrock" || n == "aws" || strings.HasPrefix(n, "bedrock:") || strings.HasPrefix(n, "aws:")
		})
	}
	m := cfg.Model()
	if bedrock(m.Provider, m.Default) {
		return true
	}
	if _, ok := cfg.Providers()["bedrock"]; ok {
		return true
	}
	return slices.ContainsFunc(cfg.Fallback(), func(f config.Fallback) bool { return bedrock(f.Provider, f.Model) })
}

// Login returns how to log in to the service of a pool; the settings override the built-in
// values.
func Login(cfg *config.Config, pool string) credential.Login {
	l := credential.Login{Provider: pool}
	rows := credential.Logins()
	if i := slices.IndexFunc(rows, func(r credential.Login) bool { return r.Provider == pool }); i >= 0 {
		l = rows[i]
	}
	set := cfg.Providers()[strings.TrimPrefix(pool, "custom:")].OAuth
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
	return l
}
