package cmd

import (
	"context"

	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/fallback"
	settings "hermes/internal/config"
	"hermes/internal/services"
)

func fallbackDeps(g *chat.Options) fallback.Deps {
	return fallback.Deps{
		Load: func() (*settings.Config, error) { return app.New(g.App).Config() },
		Look: func(ctx context.Context, f settings.Fallback) (provider, model, missing string, err error) {
			a := app.New(g.App)
			defer a.Close()
			models, err := a.Models().Catalogue()
			if err != nil {
				return "", "", "", err
			}
			provider, model, err = models.Fallback(ctx, services.Fallback(f, nil))
			if err != nil && model != "" {
				return provider, model, err.Error(), nil
			}
			return provider, model, "", err
		},
		Main: func(ctx context.Context) string {
			a := app.New(g.App)
			defer a.Close()
			ref, _, err := a.Models().Current(ctx, g.Run.Model)
			if err != nil {
				return "" // reported where it is needed
			}
			return ref
		},
	}
}
