package models

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/ratelimit"
)

// Names asks a service for the names of its models.
func (m *Models) Names(ctx context.Context, service string) ([]string, error) {
	models, err := m.catalogue()
	if err != nil {
		return nil, err
	}
	p, err := models.Provider(service)
	if err != nil {
		return nil, err
	}
	list, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.ID
	}
	return names, nil
}

// References asks the configured services for their models, for a picker. Services that do
// not answer are logged.
func (m *Models) References(ctx context.Context) ([]string, error) {
	models, err := m.catalogue()
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
			m.config.Log().Warn("list models", "provider", id, "err", err)
			continue
		}
		for _, one := range list {
			refs = append(refs, p.Name()+":"+one.ID)
		}
	}
	return refs, nil
}

// Current returns the model that a new run would use, and what says so: the command line, the
// settings, or what was found.
func (m *Models) Current(ctx context.Context, c hermes.ModelChoice) (ref, source string, err error) {
	model, err := m.Model(ctx, c)
	if err != nil {
		return "", "", err
	}
	pc, err := m.providers()
	switch {
	case err != nil:
		return "", "", err
	case c.Ref != "":
		source = "command line"
	case pc.Model != "":
		source = "config.yaml"
	default:
		source = "found"
	}
	return model.ID(), source, nil
}

// Limits returns what the services said about the limits of their credentials, and the time.
func (m *Models) Limits() ([]ratelimit.Status, time.Time) {
	models, err := m.catalogue()
	if err != nil {
		return nil, time.Time{}
	}
	return models.Limits()
}
