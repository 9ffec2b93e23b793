package app

import (
	"cmp"
	"slices"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/skill/hub"
)

// SkillHub returns the client for public skill registries.
func (a *App) SkillHub() (*hub.Hub, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	lib, err := a.skills()
	if err != nil {
		return nil, err
	}
	lock, err := lib.Installed()
	if err != nil {
		return nil, err
	}
	choose, err := httpc.ProxiesOf(cfg.Getenv).Func()
	if err != nil {
		return nil, err
	}
	client, err := httpc.New(httpc.Options{Proxy: choose, UserAgent: "hermes/" + Version, Redirects: httpc.Downloads, ForceIPv4: cfg.Network().ForceIPv4})
	if err != nil {
		return nil, err
	}
	return hub.New(hub.Config{
		Client: client, Token: hermes.Secret(cmp.Or(cfg.Getenv("GITHUB_TOKEN"), cfg.Getenv("GH_TOKEN"))),
		Taps: slices.Concat(hub.DefaultTaps(), lock.Taps), Marketplaces: []string{"anthropics/skills"},
		Bases: hub.Bases{
			GitHub: cfg.Getenv("GITHUB_API_URL"), ClawHub: cfg.Getenv("CLAWHUB_URL"), SkillsSh: cfg.Getenv("SKILLS_API_URL"),
		},
	}), nil
}
