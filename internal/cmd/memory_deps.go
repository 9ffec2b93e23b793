package cmd

import (
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/memory"
	settings "hermes/internal/config"
	client "hermes/internal/memory"
)

func memoryDeps(g *chat.Options) memory.Deps {
	return memory.Deps{
		File: func() (*client.File, error) {
			m, err := app.New(g.App).Memory()
			if err != nil {
				return nil, err
			}
			return m.File, nil
		},
		Load: func() (*settings.Config, error) { return app.New(g.App).Config() },
		Services: func() []memory.Service {
			var out []memory.Service
			for _, s := range app.New(g.App).MemoryServices() {
				out = append(out, memory.Service{Name: s.Name, Title: s.Title, Missing: s.Missing})
			}
			return out
		},
	}
}
