// Package models finds the models of runs and of side tasks. They share one
// configuration of the services; a run that names its service, and a side task with an
// address, key or fields of its own, get a catalogue that differs in that.
//
// It owns which catalogue answers and keeps those that were made. It does not read the
// settings, and does not know sessions or what side tasks ask. Start at Models.
package models

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/lru"
	"hermes/internal/provider"
)

// Config configures Models.
type Config struct {
	// Providers returns the configuration of the services. It is called once, at the
	// first use. Its StreamOnly is for side tasks, its Fallback for runs.
	Providers func() (provider.Config, error)
	// Fixed says that there is one service only, such as that of the demo. What runs and
	// side tasks ask for instead is ignored.
	Fixed bool
	// Watch wraps the models of runs; nil wraps none.
	Watch func(hermes.Models) hermes.Models
	Log   func() *slog.Logger // nil discards
}

// Models finds models. It may be used concurrently.
type Models struct {
	config    Config
	providers func() (provider.Config, error)
	catalogue func() (*provider.Catalogue, error)
	side      func() (*provider.Catalogue, error) // without fallbacks

	mu       sync.Mutex
	services *lru.Map[string, *provider.Catalogue] // of runs that name a service
	tasks    *lru.Map[taskID, *provider.Catalogue] // of side tasks with settings of their own
}

// maxKept is how many catalogues of each kind are kept.
const maxKept = 64

// New returns models. It reads nothing yet.
func New(c Config) *Models {
	m := &Models{config: c, providers: sync.OnceValues(c.Providers), services: lru.New[string, *provider.Catalogue](maxKept), tasks: lru.New[taskID, *provider.Catalogue](maxKept)}
	if m.config.Watch == nil {
		m.config.Watch = func(all hermes.Models) hermes.Models { return all }
	}
	if m.config.Log == nil {
		m.config.Log = func() *slog.Logger { return slog.New(slog.DiscardHandler) }
	}
	m.catalogue = sync.OnceValues(func() (*provider.Catalogue, error) {
		pc, err := m.providers()
		if err != nil {
			return nil, err
		}
		pc.StreamOnly = nil
		return provider.New(pc)
	})
	m.side = sync.OnceValues(func() (*provider.Catalogue, error) {
		pc, err := m.providers()
		if err != nil {
			return nil, err
		}
		pc.Fallback = nil // the client of side tasks tries their models in order
		return provider.New(pc)
	})
	return m
}

// Catalogue returns the services with the user's settings.
func (m *Models) Catalogue() (*provider.Catalogue, error) { return m.catalogue() }

// Model returns the model that a run asks for. A service that is named without a model
// answers with its default one, and the settings of the section model do not apply to it.
func (m *Models) Model(ctx context.Context, c hermes.ModelChoice) (hermes.Model, error) {
	models, err := m.of(c.Provider)
	if err != nil {
		return nil, err
	}
	ref := c.Ref
	if c.Provider != "" && ref != "" && !strings.Contains(ref, ":") {
		ref = c.Provider + ":" + ref
	}
	return m.config.Watch(models).Model(ctx, ref)
}

// of returns the catalogue of runs that name a service, made once; the general one
// without a name.
func (m *Models) of(service string) (*provider.Catalogue, error) {
	if service == "" || m.config.Fixed {
		return m.catalogue()
	}
	pc, err := m.providers()
	if err != nil {
		return nil, err
	}
	pc.StreamOnly = nil
	pc.Provider, pc.BaseURL, pc.Key, pc.APIMode, pc.Fault, pc.Forced = service, "", "", "", nil, true
	return keep(m, m.services, service, pc)
}

// keep returns the catalogue that was made earlier for a key, or makes it.
func keep[K comparable](m *Models, kept *lru.Map[K, *provider.Catalogue], key K, pc provider.Config) (*provider.Catalogue, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := kept.Get(key); ok {
		return made, nil
	}
	made, err := provider.New(pc)
	if err != nil {
		return nil, err
	}
	kept.Put(key, made)
	return made, nil
}

// Info returns what is known about a model without asking anything, and the service tier
// that it is asked for.
func (m *Models) Info(ref string) (info hermes.ModelInfo, tier string) {
	models, err := m.catalogue()
	if err != nil {
		return hermes.ModelInfo{}, ""
	}
	return models.Info(ref), models.Tier(ref)
}

// Window returns the context length of a model in tokens, 0 if unknown.
func (m *Models) Window(ref string) int {
	info, _ := m.Info(ref)
	return info.ContextLength
}

// Tier returns the service tier that a model is asked for, "" for none.
func (m *Models) Tier(ref string) string {
	_, tier := m.Info(ref)
	return tier
}

// Sees reports whether a model accepts pictures.
func (m *Models) Sees(ref string) bool {
	info, _ := m.Info(ref)
	return info.Vision
}

// OnOwnServer reports whether a model's server is on this machine or in its network.
func (m *Models) OnOwnServer(ref string) bool {
	models, err := m.catalogue()
	return err == nil && models.OnOwnServer(ref)
}
