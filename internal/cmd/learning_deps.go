package cmd

import (
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/learning"
)

func learningDeps(g *chat.Options) learning.Deps {
	return learning.Deps{Open: func() (learning.Store, func() error, error) {
		a := app.New(g.App)
		return a.Learned(), a.Close, nil
	}}
}
