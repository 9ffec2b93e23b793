package model

import (
	"cmp"
	"context"
	"strings"

	"hermes"
	"hermes/internal/cmd/factory"
)

// catalogue is the Catalogue of the app.
type catalogue struct{ *factory.Factory }

func (c catalogue) Current(ctx context.Context) (ref, source string, err error) {
	return c.App().Models().Current(ctx, hermes.ModelChoice{})
}

func (c catalogue) Services() ([]Service, error) {
	models, err := c.App().Models().Catalogue()
	if err != nil {
		return nil, err
	}
	cfg, err := c.App().Config()
	if err != nil {
		return nil, err
	}
	var out []Service
	set := cfg.Providers()
	for _, id := range models.Configured() {
		if name, own := strings.CutPrefix(id, "custom:"); own || id == "custom" {
			out = append(out, Service{Name: id, Title: cmp.Or(set[name].Name, name), Own: true})
		}
	}
	for _, r := range models.Rows() {
		out = append(out, Service{Name: r.Name, Title: r.Title, Missing: models.Ready(r.Name), Guessed: r.NoKey && set[r.Name].BaseURL == "", Own: r.NoKey})
	}
	return out, nil
}

func (c catalogue) Models(ctx context.Context, service string) ([]string, error) {
	return c.App().Models().Names(ctx, service)
}

func (c catalogue) Resolve(ctx context.Context, ref string) (string, error) {
	models, err := c.App().Models().Catalogue()
	if err != nil {
		return "", err
	}
	m, err := models.Model(ctx, ref)
	if err != nil {
		return "", err
	}
	return m.ID(), nil
}

func (c catalogue) Save(ctx context.Context, ref string) (string, error) {
	cfg, err := c.Config()
	if err != nil {
		return "", err
	}
	change, err := cfg.Set(ctx, "model.default", ref)
	return change.File, err
}
