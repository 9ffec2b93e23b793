package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/provider"
	"hermes/internal/yamledit"
)

// Models returns the catalogue of model services with the user's settings.
func (a *App) Models() (*provider.Catalogue, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.models != nil {
		return a.models, nil
	}
	c, err := a.providerConfig(cfg)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, a.closeCredentials)
	a.models, err = provider.New(c)
	return a.models, err
}

// runModels finds the models of runs.
type runModels struct{ app *App }

// Model returns the model that a run asks for. A service that is named without a model answers
// with its default one, and the settings of the section model do not apply to it.
func (r runModels) Model(ctx context.Context, c hermes.ModelChoice) (hermes.Model, error) {
	models, err := r.app.modelsOf(c.Provider)
	if err != nil {
		return nil, err
	}
	ref := c.Ref
	if c.Provider != "" && ref != "" && !strings.Contains(ref, ":") {
		ref = c.Provider + ":" + ref
	}
	return r.app.watch().Models(models).Model(ctx, ref)
}

// modelsOf returns the catalogue of runs that name a service, made once; the general one
// without a name.
func (a *App) modelsOf(service string) (*provider.Catalogue, error) {
	if service == "" || a.opts.BaseURL != "" {
		return a.Models()
	}
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	if _, err := a.Models(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if made := a.serviceModels[service]; made != nil {
		return made, nil
	}
	c, err := a.providerConfig(cfg)
	if err != nil {
		return nil, err
	}
	c.Provider, c.BaseURL, c.Key, c.APIMode, c.Fault, c.Forced = service, "", "", "", nil, true
	made, err := provider.New(c)
	if err != nil {
		return nil, err
	}
	if a.serviceModels == nil || len(a.serviceModels) >= maxServiceModels {
		a.serviceModels = map[string]*provider.Catalogue{}
	}
	a.serviceModels[service] = made
	return made, nil
}

// maxServiceModels is how many catalogues of runs that name a service are kept.
const maxServiceModels = 64

func (a *App) providerConfig(cfg *config.Config) (provider.Config, error) {
	m, faults := cfg.Model(), cfg.AddressFaults()
	c := provider.Config{
		Model: m.Default, Provider: m.Provider, BaseURL: m.BaseURL, Key: m.APIKey, APIMode: m.APIMode,
		Fault: faults["model"], ContextLength: m.ContextLength, Aliases: m.Aliases, NoStream: !m.Streaming,
		CacheTTL: cfg.PromptCaching().CacheTTL, Retries: retries(cfg.Agent().APIMaxRetries),
		OpenRouter: openRouter(cfg), ServiceTier: cfg.Agent().ServiceTier,
		Getenv: cfg.Getenv, UserAgent: "hermes/" + Version, Now: a.opts.Now, Note: a.opts.Note,
	}
	t := cfg.Timeouts()
	c.Timeouts = provider.Timeouts{Read: t.StreamRead, Stale: t.StreamStale, CallStale: t.CallStale, Call: t.Call, LocalStale: cfg.Agent().LocalStreamStale}
	if a.opts.BaseURL != "" { // this run has its own service, such as the demo
		return provider.Config{
			Model: a.opts.BaseModel, BaseURL: a.opts.BaseURL, Key: "none", Retries: c.Retries, Timeouts: c.Timeouts,
			UserAgent: c.UserAgent, Now: c.Now, Getenv: func(string) string { return "" },
		}, nil
	}
	if err := faults["providers"]; err != nil {
		return c, err
	}
	meter, err := a.meter()
	if err != nil {
		return c, err
	}
	c.Programs = provider.Programs{Dir: cfg.Home().Cache("programs"), Guard: &a.guard, Mark: func() ([]string, []*os.File) {
		m := a.mark()
		return m.Environ(), m.Files()
	}}
	c.AskWindows = true
	c.Keys, c.LoginLacks = a.keys, a.loginLacks
	c.Fallback, c.UnattendedWait = fallbacks(cfg.Fallback(), faults), unattendedWait
	c.Caps, c.Meter, c.Answers = meter.Caps, meter.Meter, cfg.Home().Cache("models")
	if c.Custom, err = customProviders(cfg.Providers(), faults); err != nil {
		return c, err
	}
	withAliases(&c, cfg.ModelAliases(), faults)
	return c, nil
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

// ServiceTier returns the service tier that a model is asked for, "" for none.
func (a *App) ServiceTier(ref string) string {
	models, err := a.Models()
	if err != nil {
		return ""
	}
	return models.Tier(ref)
}

// retries converts the setting for the catalogue, where 0 means not set.
func retries(set int) int {
	if set == 0 {
		return -1
	}
	return set
}

// unattendedWait is how long a model may ask to wait in an unattended run, where a
// late result is better than none.
const unattendedWait = 6 * time.Hour

// Fallback returns the model that an entry of fallback_providers names; see
// provider.Catalogue.Fallback.
func (a *App) Fallback(ctx context.Context, f config.Fallback) (service, model string, err error) {
	models, err := a.Models()
	if err != nil {
		return "", "", err
	}
	return models.Fallback(ctx, fallbacks([]config.Fallback{f}, nil)[0])
}

// fallbacks returns the models to use if the chosen one fails.
func fallbacks(entries []config.Fallback, faults map[string]error) []provider.Fallback {
	var out []provider.Fallback
	for i, f := range entries {
		out = append(out, provider.Fallback{
			Provider: f.Provider, Model: f.Model, BaseURL: f.BaseURL, KeyEnv: f.KeyEnv, Key: f.APIKey,
			APIMode: f.APIMode, ContextLength: f.ContextLength, Fault: faults["fallback_providers."+strconv.Itoa(i)],
		})
	}
	return out
}

func customProviders(all map[string]config.Provider, faults map[string]error) (map[string]provider.Custom, error) {
	out := make(map[string]provider.Custom, len(all))
	for name, p := range all {
		c := provider.Custom{
			BaseURL: p.BaseURL, Key: p.APIKey, KeyEnv: p.KeyEnv, APIMode: p.APIMode, Model: p.DefaultModel, Command: p.Command, Args: p.Args,
			ContextLength: p.ContextLength, Header: p.Headers, Timeout: p.RequestTimeout, Stale: p.StaleTimeout,
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
			c.Models[id] = provider.ModelSettings{Timeout: m.Timeout, Stale: m.StaleTimeout, ContextLength: m.ContextLength}
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

// ModelReferences lists the models of the configured services, for a picker. It skips
// services that do not answer.
func (a *App) ModelReferences(ctx context.Context) ([]string, error) {
	models, err := a.Models()
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, id := range models.Configured() {
		p, err := models.Provider(id)
		if err != nil {
			continue
		}
		list, err := p.List(ctx)
		if err != nil {
			a.log().Warn("list models", "provider", id, "err", err)
			continue
		}
		for _, m := range list {
			refs = append(refs, p.Name()+":"+m.ID)
		}
	}
	return refs, nil
}

// window returns the context length of a model in tokens, 0 if unknown.
func (a *App) window(ref string) int {
	models, err := a.Models()
	if err != nil {
		return 0
	}
	return models.Window(ref)
}
