package cmd

import (
	"context"
	"errors"
	"os"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/skills"
	settings "hermes/internal/config"
	"hermes/internal/skill"
	"hermes/internal/skill/hub"
)

func skillDeps(p Process, g *chat.Options) skills.Deps {
	return skills.Deps{
		Open: func() (*skill.Library, error) {
			a := app.New(g.App)
			lib, err := a.Skills()
			if err != nil {
				return nil, err
			}
			dir, err := os.Getwd()
			if err != nil {
				return nil, err
			}
			return lib.In(dir), nil
		},
		Hub:      func() (*hub.Hub, error) { return app.New(g.App).SkillHub() },
		Load:     func() (*settings.Config, error) { return app.New(g.App).Config() },
		Curation: func() (skill.Curation, error) { return app.New(g.App).Curation() },
		Journal:  undoDeps(p, g).Open,
		Dir:      os.Getwd,
		Edit:     func(ctx context.Context, path string) error { return edit(ctx, p, path) },
		Terminal: func() bool { return terminal(p.Stdin) },
		Replay: func(ctx context.Context, name, session string, turn int64) (t hermes.SkillTrial, err error) {
			a := app.New(g.App)
			defer func() { err = errors.Join(err, a.Close()) }()
			lib, err := a.Skills()
			if err != nil {
				return t, err
			}
			return lib.Replay(ctx, name, session, turn)
		},
	}
}
