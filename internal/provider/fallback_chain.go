package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

// Fallback is one entry of fallback_providers: a model that answers if the
// requested one cannot. BaseURL, keys and mode override the provider's.
type Fallback struct {
	Provider, Model string
	BaseURL         string
	KeyEnv          string
	Key             hermes.Secret
	APIMode         string
	ContextLength   int
	Fault           error // why the entry must not be used; see Custom.Fault
}

// Fallback returns the model that an entry means. If that model cannot be called
// now, it is still returned, and the error says what is missing.
func (c *Catalogue) Fallback(ctx context.Context, f Fallback) (provider, model string, err error) {
	ch, err := c.fallback(ctx, f)
	return ch.id, ch.model, err
}

// fallback resolves an entry. It does no I/O.
func (c *Catalogue) fallback(ctx context.Context, f Fallback) (choice, error) {
	var (
		ch  choice
		err error
	)
	switch name := strings.ToLower(strings.TrimSpace(f.Provider)); {
	case f.Fault != nil:
		return ch, f.Fault
	case f.BaseURL != "":
		row := Row{Name: "custom", Title: hostOf(f.BaseURL), NoKey: true, Chat: plainQuirks()}
		if like, ok := c.rowByHost(f.BaseURL); ok {
			row = like
		}
		ch = choice{endpoint{Row: row, id: cmp.Or(name, "custom"), home: row.BaseURL, custom: Custom{BaseURL: f.BaseURL}}, nameFor(row, f.Model)}
	case name == "" || name == "auto":
		ch, err = c.resolve(ctx, f.Model)
	default:
		ch, err = c.named(name, f.Model)
	}
	if err != nil {
		return ch, err
	}
	if f.BaseURL != "" || f.Key != "" || f.KeyEnv != "" || f.APIMode != "" {
		ch.custom.Key = cmp.Or(f.Key, ch.custom.Key)
		ch.custom.KeyEnv = cmp.Or(f.KeyEnv, ch.custom.KeyEnv)
		ch.custom.APIMode = cmp.Or(f.APIMode, ch.custom.APIMode)
		if ch.endpoint, err = c.settle(ch.endpoint); err != nil {
			return ch, err
		}
	}
	ch.custom.ContextLength = cmp.Or(f.ContextLength, ch.custom.ContextLength)
	if why := ch.missing(); why != "" {
		return ch, errors.New(why)
	}
	if ch.model == "" {
		return ch, fmt.Errorf("no model is set for the provider %q under fallback_providers in config.yaml", f.Provider)
	}
	return ch, nil
}

// candidate is one model of the chain.
type candidate struct {
	ref   string
	model hermes.Model // nil if it cannot be called
	why   error        // the reason, if model is nil
}

// chain lists the models; the requested one comes first.
func (m *fallbackModel) chain(ctx context.Context) []candidate {
	list := []candidate{{ref: m.ID(), model: m.Model}}
	seen := map[string]bool{m.ID() + " " + m.asked.BaseURL: true}
	for _, f := range m.c.cfg.Fallback {
		ch, err := m.c.fallback(ctx, f)
		if err != nil {
			list = append(list, candidate{ref: cmp.Or(f.Provider, f.BaseURL) + ":" + f.Model, why: err})
			continue
		}
		if id := ch.ref() + " " + ch.BaseURL; !seen[id] {
			seen[id] = true
			model, err := m.c.failover.model(id, func() (hermes.Model, error) { return m.c.buildSingle(ch) })
			list = append(list, candidate{ref: ch.ref(), model: model, why: err})
		}
	}
	return list
}
