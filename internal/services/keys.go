package services

import (
	"slices"
	"strings"

	"hermes/internal/config"
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
