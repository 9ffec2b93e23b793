// Package services turns the settings into the configuration of the services that models
// are reached by: the providers with their fallbacks and aliases, the models of side
// tasks, the logins, and the variables that hold keys.
//
// It joins two packages that do not know each other, config and provider, and calls no
// service. Start at Providers.
package services

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/provider"
	"hermes/internal/yamledit"
)

// Providers returns what the settings say about the services of models. After an error
// the services of the section providers are missing.
func Providers(cfg *config.Config) (provider.Config, error) {
	m, agent, t, faults := cfg.Model(), cfg.Agent(), cfg.Timeouts(), cfg.AddressFaults()
	c := provider.Config{
		Selection: provider.Selection{
			Model: m.Default, Provider: m.Provider, BaseURL: m.BaseURL, Key: m.APIKey, APIMode: m.APIMode,
			ContextLength: m.ContextLength, Fault: faults["model"],
		},
		Aliases: m.Aliases,
		Requests: provider.Requests{
			NoStream: !m.Streaming, StreamOnly: cfg.StreamOnlyURLs(), CacheTTL: cfg.PromptCaching().CacheTTL,
			ServiceTier: agent.ServiceTier, OpenRouter: openRouter(cfg),
		},
		Patience: provider.Patience{Retries: retries(agent.APIMaxRetries), Timeouts: provider.Timeouts{
			Read: t.StreamRead, Stale: t.StreamStale, CallStale: t.CallStale, Call: t.Call, LocalStale: agent.LocalStreamStale,
		}},
		Answers: cfg.Home().Cache("models"),
		System:  provider.System{Getenv: cfg.Getenv},
	}
	for i, f := range cfg.Fallback() {
		c.Fallback = append(c.Fallback, Fallback(f, faults["fallback_providers."+strconv.Itoa(i)]))
	}
	if err := faults["providers"]; err != nil {
		return c, err
	}
	custom, err := customProviders(cfg.Providers(), faults)
	if err != nil {
		return c, err
	}
	c.Custom = custom
	if d := cfg.Delegation(); d.BaseURL != "" || faults[childService] != nil {
		c.Custom[childService] = provider.Custom{BaseURL: d.BaseURL, Key: d.APIKey, APIMode: d.APIMode, Model: d.Model, Fault: faults[childService]}
	}
	withAliases(&c, cfg.ModelAliases(), faults)
	return c, nil
}

// Fallback converts one entry of fallback_providers. fault says why its address must not be
// used, nil for nothing.
func Fallback(f config.Fallback, fault error) provider.Selection {
	return provider.Selection{
		Provider: f.Provider, Model: f.Model, BaseURL: f.BaseURL, KeyEnv: f.KeyEnv, Key: f.APIKey,
		APIMode: f.APIMode, ContextLength: f.ContextLength, Fault: fault,
	}
}

// retries converts the setting for the catalogue, where 0 means not set.
func retries(set int) int {
	if set == 0 {
		return -1
	}
	return set
}

// openRouter returns the settings of OpenRouter.
func openRouter(cfg *config.Config) provider.OpenRouter {
	r, o := cfg.Routing(), cfg.OpenRouter()
	out := provider.OpenRouter{MinCodingScore: o.MinCodingScore, Routing: provider.Routing{
		Order: r.Order, Only: r.Only, Ignore: r.Ignore, RequireParameters: r.RequireParameters, DataCollection: r.DataCollection,
		ZDR: r.ZDR, DistillableText: r.DistillableText, Quantizations: r.Quantizations, Sort: r.Sort,
		MinThroughput: r.MinThroughput, MaxLatency: r.MaxLatency,
	}}
	if !r.AllowFallbacks {
		out.Routing.AllowFallbacks = new(false)
	}
	if p := r.MaxPrice; p != (config.RoutingPrice{}) {
		out.Routing.MaxPrice = &provider.MaxPrice{Prompt: p.Prompt, Completion: p.Completion, Request: p.Request, Image: p.Image}
	}
	if o.ResponseCache {
		out.ResponseCache = o.ResponseCacheTTL
	}
	return out
}

// customProviders converts the section providers.
func customProviders(all map[string]config.Provider, faults map[string]error) (map[string]provider.Custom, error) {
	out := make(map[string]provider.Custom, len(all))
	for name, p := range all {
		c := provider.Custom{
			BaseURL: p.BaseURL, Key: p.APIKey, KeyEnv: p.KeyEnv, APIMode: p.APIMode, Model: p.DefaultModel, Command: p.Command, Args: p.Args,
			Limits: provider.Limits{ContextLength: p.ContextLength, Timeout: p.RequestTimeout, Stale: p.StaleTimeout}, Header: p.Headers,
			Fault: faults[yamledit.Join([]string{"providers", name})], Insecure: !p.VerifyTLS, Models: map[string]provider.ModelSettings{}, Extra: map[string]json.RawMessage{},
		}
		for k, v := range p.ExtraBody {
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("providers.%s.extra_body.%s in config.yaml cannot be sent as JSON: %w", name, k, err)
			}
			c.Extra[k] = raw
		}
		for id, m := range p.Models {
			c.Models[id] = provider.ModelSettings{Limits: provider.Limits{Timeout: m.Timeout, Stale: m.StaleTimeout, ContextLength: m.ContextLength}, Vision: m.SupportsVision}
		}
		if p.CACert != "" {
			pem, err := os.ReadFile(p.CACert)
			if err != nil {
				return nil, fmt.Errorf("providers.%s.ssl_ca_cert in config.yaml: %w", name, err)
			}
			c.CACert = pem
		}
		out[name] = c
	}
	return out, nil
}

// childService is the name of the service that the section delegation describes, where it has an address.
const childService = "delegation"

// ChildModel returns the model of child sessions that the settings name, or the zero value.
func ChildModel(cfg *config.Config) hermes.ModelChoice {
	d := cfg.Delegation()
	c := hermes.ModelChoice{Ref: d.Model, Provider: d.Provider}
	if d.BaseURL != "" || cfg.AddressFaults()[childService] != nil {
		c.Provider = childService
	}
	return c
}
