package models

import (
	"context"
	"log/slog"
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
func (m *Models) References(ctx context.Context, log *slog.Logger) ([]string, error) {
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
			log.Warn("list models", "provider", id, "err", err)
			continue
		}
		for _, one := range list {
			refs = append(refs, p.Name()+":"+one.ID)
		}
	}
	return refs, nil
}
