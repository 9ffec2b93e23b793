package cmd

import (
	"context"

	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/journey"
)

func journeyDeps(p Process, g *chat.Options) journey.Deps {
	return journey.Deps{
		Open: func() (journey.Sources, func() error, error) {
			a := app.New(g.App)
			file, err := a.Memory()
			if err != nil {
				return journey.Sources{}, nil, err
			}
			skills, err := a.Skills()
			if err != nil {
				return journey.Sources{}, nil, err
			}
			return journey.Sources{Memory: file.File, Library: skills.Library, Learnings: a.Learned()}, a.Close, nil
		},
		Edit:     func(ctx context.Context, path string) error { return edit(ctx, p, path) },
		Terminal: func() bool { return terminal(p.Stdin) },
	}
}
