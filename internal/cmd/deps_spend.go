package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/insights"
	"hermes/internal/cmd/spend"
	"hermes/internal/session"
	governor "hermes/internal/spend"
)

func spendDeps(p Process, g *chat.Options) spend.Deps {
	return spend.Deps{Open: func(context.Context) (*governor.Governor, func() error, error) {
		a := app.New(g.App)
		s, err := a.Spend()
		if fault := a.CheckSpend(); err == nil && fault != nil { // a cap may be missing in what is shown
			fmt.Fprintln(p.Stderr, "hermes:", fault)
		}
		return s, a.Close, err
	}, Session: func(ctx context.Context, ref string) (id string, err error) {
		db, err := app.New(g.App).Database(ctx)
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		if ref == "latest" {
			here, err := filepath.Abs(".")
			if err != nil {
				return "", err
			}
			row, err := session.Latest(ctx, db, here)
			return row.ID, err
		}
		row, err := db.FindSession(ctx, ref)
		return row.ID, err
	}}
}

func insightsDeps(g *chat.Options) insights.Deps {
	return insights.Deps{Open: func(ctx context.Context) (insights.Store, error) {
		return app.New(g.App).Reader(ctx) // the command closes it
	}}
}
