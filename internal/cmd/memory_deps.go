package cmd

import (
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/memory"
	settings "hermes/internal/config"
	room "hermes/internal/memory"
)

func memoryDeps(g *chat.Options) memory.Deps {
	return memory.Deps{
		Book: func() (*room.Book, error) {
			m, err := app.New(g.App).Memory()
			if err != nil {
				return nil, err
			}
			return m.Book, nil
		},
		Load: func() (*settings.Config, error) { return app.New(g.App).Config() },
		Services: func() []memory.Service {
			var out []memory.Service
			for _, s := range app.New(g.App).MemoryServices() {
				out = append(out, memory.Service(s))
			}
			return out
		},
	}
}
