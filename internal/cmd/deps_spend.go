package cmd

import (
	"context"

	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/insights"
	"hermes/internal/cmd/spend"
	governor "hermes/internal/spend"
)

func spendDeps(g *chat.Options) spend.Deps {
	return spend.Deps{Open: func(context.Context) (*governor.Governor, func() error, error) {
		a := app.New(g.App)
		s, err := a.Spend()
		return s, a.Close, err
	}}
}

func insightsDeps(g *chat.Options) insights.Deps {
	return insights.Deps{Open: func(ctx context.Context) (insights.Store, error) {
		return app.New(g.App).Database(ctx) // the command closes it
	}}
}
