package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/chain"
)

// Fallback returns the model that an entry means. If that model cannot be called
// now, it is still returned, and the error says what is missing.
func (c *Catalogue) Fallback(ctx context.Context, f Selection) (provider, model string, err error) {
	ch, err := c.meant(ctx, f)
	return ch.id, ch.model, err
}

// meant resolves an entry. It does no I/O.
func (c *Catalogue) meant(ctx context.Context, f Selection) (choice, error) {
	var ch choice
	var err error
	switch name := strings.ToLower(strings.TrimSpace(f.Provider)); {
	case f.Fault != nil:
		return ch, f.Fault
	case f.BaseURL != "":
		row := c.rowAt(f.BaseURL)
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

// fallback returns the layer that tries the fallback models; nil if none is
// configured.
func (c *Catalogue) fallback(ch choice) chain.Layer {
	if len(c.cfg.Fallback) == 0 {
		return nil
	}
	return chain.Fallback(chain.FallbackConfig{
		Others:   func(ctx context.Context) []chain.Candidate { return c.others(ctx, ch) },
		Failover: c.failover, Longest: c.cfg.longestFor, Now: c.cfg.Now, Sleep: c.cfg.Sleep,
	})
}

// others lists the fallback models, without the requested one.
func (c *Catalogue) others(ctx context.Context, asked choice) []chain.Candidate {
	var list []chain.Candidate
	seen := map[string]bool{asked.ref() + " " + asked.BaseURL: true}
	for _, f := range c.cfg.Fallback {
		ch, err := c.meant(ctx, f)
		if err != nil {
			list = append(list, chain.Candidate{Ref: cmp.Or(f.Provider, f.BaseURL) + ":" + f.Model, Why: err})
			continue
		}
		if id := ch.ref() + " " + ch.BaseURL; !seen[id] {
			seen[id] = true
			model, err := c.failover.Model(id, func() (hermes.Model, error) { return c.buildSingle(ch) })
			list = append(list, chain.Candidate{Ref: ch.ref(), Model: model, Why: err})
		}
	}
	return list
}
