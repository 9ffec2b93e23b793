package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hermes/internal/modelinfo"

	"hermes"
)

// choice is a service and the name of one of its models.
type choice struct {
	endpoint
	model string
}

// ref is the reference of the model.
func (ch choice) ref() string { return ch.id + ":" + ch.model }

// Model returns the model that a reference means, in its chain. References
// are "provider:model", "provider/model", "custom:name:model", a bare model
// name, or an alias of the configuration. The empty one is the configured
// model, else the first service with a key, else a server on this machine. If
// nothing is found, the error wraps hermes.ErrNoModel and says what to set. For
// the user's own server with a single model, the model's name may be missing.
// Only that lookup and the search for local servers do I/O.
func (c *Catalogue) Model(ctx context.Context, ref string) (hermes.Model, error) {
	ch, err := c.resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	if why := ch.missing(); why != "" {
		return nil, fmt.Errorf("%w: %s", hermes.ErrNoModel, why)
	}
	if ch.model == "" {
		if ch, err = c.only(ctx, ch); err != nil {
			return nil, err
		}
	}
	return c.build(ch)
}

func (c *Catalogue) resolve(ctx context.Context, ref string) (choice, error) {
	ch, model, err := c.placed(ref)
	switch {
	case err != nil || ch.id != "":
		return ch, err
	case model == "":
		return c.anything(ctx)
	}
	return c.byName(ctx, model)
}

// placed resolves a reference whose service is named, by itself or by the settings. It
// does no I/O. If no service is named, the choice is zero, and model is what to look for.
func (c *Catalogue) placed(ref string) (ch choice, model string, err error) {
	asked := strings.TrimSpace(ref) != ""
	ref = cmp.Or(strings.TrimSpace(ref), strings.TrimSpace(c.cfg.Model))
	if real, ok := c.cfg.Aliases[ref]; ok {
		ref = strings.TrimSpace(real)
	}
	if c.cfg.Fault != nil && !asked {
		return choice{}, "", c.cfg.Fault
	}
	set := strings.ToLower(c.cfg.Provider)
	name, model, named := c.split(ref)
	switch {
	case named && c.cfg.Forced && !asked && !c.same(name, set):
		ch, err = c.named(set, "")
	case named:
		ch, err = c.named(name, model)
	case c.cfg.Fault != nil:
		err = c.cfg.Fault
	case set != "" && set != "auto":
		ch, err = c.named(set, ref)
	case c.baseURL() != "":
		ch, err = c.explicit(ref)
	}
	return ch, ref, err
}

// same reports whether two names are those of one service.
func (c *Catalogue) same(a, b string) bool {
	x, _ := c.row(a)
	y, _ := c.row(b)
	return a == b || x.Name != "" && x.Name == y.Name
}

// split separates "provider:model" and "custom:name:model". The part before the
// colon must be a provider; it is not one if a URL or a tag follows.
func (c *Catalogue) split(ref string) (provider, model string, ok bool) {
	head, rest, colon := strings.Cut(ref, ":")
	head = strings.ToLower(strings.TrimSpace(head))
	if !colon || strings.HasPrefix(rest, "//") {
		return "", "", false
	}
	if head == "custom" {
		name, model, _ := strings.Cut(rest, ":")
		if id, _, own := c.own([]string{name}); own {
			return "custom:" + id, model, true
		}
		return "custom", rest, true
	}
	if _, _, own := c.own([]string{head}); own {
		return head, rest, true
	}
	if head == pluginService {
		return head, rest, true
	}
	if _, known := c.row(head); known && !isTag(rest) {
		return head, rest, true
	}
	return "", "", false
}

// isTag reports whether s is a tag that local servers and aggregators put after
// a model's name: a size, "latest", a price class.
func isTag(s string) bool {
	switch s {
	case "latest", "free", "nitro", "floor", "online", "thinking", "extended", "exacto", "beta":
		return true
	}
	digits := strings.TrimLeft(s, "0123456789.")
	return digits != s && digits != "" && strings.ContainsRune("bBmMxX", rune(digits[0]))
}

// named returns a model of a named service. The settings of the section model
// apply to the service they name.
func (c *Catalogue) named(name, model string) (choice, error) {
	if name == "custom" {
		return c.explicit(model)
	}
	if _, _, own := c.own([]string{name}); name == pluginService && !own {
		return c.ofPlugin(strings.TrimSpace(model))
	}
	e, err := c.endpoint(name)
	if set, mine := c.row(strings.ToLower(c.cfg.Provider)); mine && set.Name == e.Row.Name && e.custom.BaseURL == "" {
		if e, err = c.override(e, err); err != nil {
			return choice{}, err
		}
	}
	if err != nil {
		return choice{}, err
	}
	return choice{e, c.nameFor(e, cmp.Or(strings.TrimSpace(model), e.Model))}, nil
}

// override applies the settings of the section model over the service's own.
func (c *Catalogue) override(e endpoint, err error) (endpoint, error) {
	if c.cfg.Fault != nil {
		return e, c.cfg.Fault
	}
	if c.cfg.Key != "" {
		e.custom.Key, e.custom.KeyEnv = c.cfg.Key, ""
	}
	switch name := c.firstSet(e.URLVars); {
	case c.cfg.BaseURL != "":
		own := e
		if c.cfg.Key != "" {
			own.custom.Key = ""
		}
		if err := own.keyMayGo("providers."+e.entry, "model.base_url", c.cfg.BaseURL); err != nil {
			return e, err
		}
		e.custom.BaseURL = c.cfg.BaseURL
	case c.cfg.Key != "" && name != "":
		if err := e.keyMayGo("model", name, c.firstVar(e.URLVars)); err != nil {
			return e, err
		}
	}
	if c.cfg.APIMode != "" {
		e.custom.APIMode = c.cfg.APIMode
	}
	if err != nil && c.cfg.BaseURL == "" {
		return e, err
	}
	return c.settle(e)
}

// baseURL is the address that was set without naming a provider.
func (c *Catalogue) baseURL() string {
	return cmp.Or(c.cfg.BaseURL, c.firstVar([]string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}))
}

// explicit returns a model behind the address that was set. It never gets the
// key of another service.
func (c *Catalogue) explicit(model string) (choice, error) {
	base := c.baseURL()
	if c.cfg.Fault != nil {
		return choice{}, c.cfg.Fault
	}
	if base == "" {
		return choice{}, fmt.Errorf("%w: provider \"custom\" has no address; set model.base_url in config.yaml or OPENAI_BASE_URL", hermes.ErrNoModel)
	}
	row := c.rowAt(base)
	row.NoKey, row.URLVars = row.Name == "custom", nil
	row.KeyVars = append([]string{"OPENAI_API_KEY"}, row.KeyVars...)
	key := c.cfg.Key
	if p := strings.ToLower(c.cfg.Provider); key != "" && c.cfg.BaseURL == "" && p != "custom" {
		if p == "" || p == "auto" {
			return choice{}, fmt.Errorf("model.api_key has no address and is not sent to %s, which a variable names; set model.base_url in config.yaml to the address that the key is for", hostOf(base))
		}
		key = "" // it is for that provider, not for the address that a variable names
	}
	e, err := c.settle(endpoint{Row: row, id: "custom", home: row.BaseURL, custom: Custom{BaseURL: base, Key: key, APIMode: c.cfg.APIMode}})
	if err != nil {
		return choice{}, err
	}
	return choice{e, c.nameFor(e, cmp.Or(model, e.Model))}, nil
}

// byName finds a service for a model when only its name is known.
func (c *Catalogue) byName(ctx context.Context, ref string) (choice, error) {
	vendor, rest, slash := strings.Cut(ref, "/")
	home := strings.ToLower(vendor)
	if !slash {
		home = modelinfo.FamilyOf(ref).Home
	} else if f := modelinfo.FamilyOf(rest); f.Vendor == home && f.Home == "" {
		home = "" // open weights: their maker does not serve them
	}
	direct, err := c.named(home, ref) // the service's own name may belong to the id
	if home != "" && err == nil && direct.missing() == "" {
		return direct, nil
	}
	for _, r := range c.rows {
		if !r.Aggregator {
			continue
		}
		if e, err := c.endpoint(r.Name); err == nil && e.missing() == "" {
			return choice{e, c.nameFor(e, ref)}, nil
		}
	}
	for _, s := range c.local(ctx) {
		if slices.Contains(s.models, ref) {
			return c.named(s.Provider, ref)
		}
	}
	if home != "" && err == nil {
		return direct, nil // its error says which key is missing
	}
	return choice{}, unknownModel(ref)
}

// unknownModel is the error for a reference that no provider serves.
type unknownModel string

func (ref unknownModel) Error() string {
	return fmt.Sprintf("no provider is known for model %q; write it as provider:model, such as openrouter:%s", string(ref), string(ref))
}

func (unknownModel) Unwrap() error { return hermes.ErrNoModel }

// anything returns a usable model when none was chosen.
func (c *Catalogue) anything(ctx context.Context) (choice, error) {
	for _, id := range slices.Sorted(maps.Keys(c.cfg.Custom)) {
		if err := c.cfg.Custom[id].Fault; err != nil {
			return choice{}, err // it may be the one that the user means
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.cfg.Custom)) {
		if set := c.cfg.Custom[id]; set.BaseURL != "" && set.Model != "" {
			return c.named(id, set.Model)
		}
	}
	var keyed *endpoint
	for _, r := range c.rows {
		e, err := c.endpoint(r.Name)
		if err != nil || r.Named || !e.hasKey() || isLocal(e.BaseURL) {
			continue
		}
		if e.Model != "" {
			return choice{e, c.nameFor(e, e.Model)}, nil
		}
		if keyed == nil {
			keyed = &e
		}
	}
	if keyed != nil {
		return choice{endpoint: *keyed}, nil
	}
	for _, s := range c.local(ctx) {
		if len(s.models) > 0 {
			return c.named(s.Provider, s.models[0])
		}
	}
	return choice{}, noModel{}
}

// noModel is the error after a fresh installation.
type noModel struct{}

func (noModel) Error() string {
	return `no model is configured, and no model server was found on this machine.

Do one of these, then start again:
  a key            export OPENROUTER_API_KEY=…   (or ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …)
                   or run hermes auth add openrouter, which stores the key (--type oauth to log in)
  an address       export OPENAI_BASE_URL=http://host:port/v1   and add -m MODEL if it has several
  a local server   start Ollama, LM Studio, llama.cpp or vLLM on its usual port

` + "Run `hermes model` to choose one, or `hermes demo` to see the agent work without a model."
}

func (noModel) Unwrap() error { return hermes.ErrNoModel }
