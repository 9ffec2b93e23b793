package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/config"
	"hermes/internal/environment"
	"hermes/internal/provider"
	"hermes/internal/redact"
)

// keyOf returns the func that says whose key a variable holds, "" if it holds no key
// of Hermes. Variables with such keys never reach commands. It joins the table of services that
// Hermes reaches, the catalogue of model services, and the settings.
func keyOf(cfg *config.Config) func(name string) string {
	models, set := provider.KeyVariables(), cfg.KeyVariables()
	signs := signsWithAWS(cfg)
	return func(name string) string {
		if whose := environment.KeyOf(name); whose != "" {
			return whose
		}
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

// secrets returns the values that are masked wherever they would be shown: of
// settings, of variables, and of logins.
func (a *App) secrets() []string {
	cfg, err := a.config()
	if err != nil {
		return nil
	}
	whose := keyOf(cfg)
	out := append(cfg.Secrets(), a.logins()...)
	for _, v := range a.opts.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if whose(name) != "" || redact.SecretName(name) && distinct(value) {
			out = append(out, value)
		}
	}
	return out
}

// distinct reports whether a value of a secret variable can be looked for in any
// text. A password such as "postgres" would be found in ordinary words, and the path
// of a file, as SSH_AUTH_SOCK has it, is no secret.
func distinct(value string) bool {
	if len(value) < 12 || !strings.ContainsAny(value, "0123456789") {
		return false
	}
	if filepath.IsAbs(value) {
		_, err := os.Lstat(value)
		return err != nil
	}
	return true
}

// serviceKeys returns the keys of services that the settings, .env and logins
// hold. They must not reach commands under any name.
func (a *App) serviceKeys(cfg *config.Config, whose func(name string) string) []string {
	out := append(cfg.ServiceKeys(), a.logins()...)
	for _, name := range cfg.EnvNames() {
		if whose(name) != "" {
			out = append(out, cfg.Getenv(name), cfg.Stored(name))
		}
	}
	return out
}

// logins returns the keys and tokens that were stored by logging in.
func (a *App) logins() []string {
	var out []string
	if store := a.credentials(); store != nil {
		for _, s := range store.Secrets() {
			out = append(out, s.Reveal())
		}
	}
	return out
}
