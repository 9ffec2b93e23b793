package app

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/netguard"
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
	bases := hub.Bases{GitHub: cfg.Getenv("GITHUB_API_URL"), ClawHub: cfg.Getenv("CLAWHUB_URL"), SkillsSh: cfg.Getenv("SKILLS_API_URL")}
	guard, err := a.webGuard()
	if err != nil {
		return nil, err
	}
	guard.Own = hosts(bases.GitHub, bases.ClawHub, bases.SkillsSh)
	client := guard.Client(netguard.Limits{Time: hubTime, Bytes: hub.MaxBody, UserAgent: "hermes/" + Version, Redirect: httpc.Downloads.Check})
	return hub.New(hub.Config{
		Client: client, Token: hermes.Secret(cmp.Or(cfg.Getenv("GITHUB_TOKEN"), cfg.Getenv("GH_TOKEN"))),
		Taps: slices.Concat(hub.DefaultTaps(), lock.Taps), Marketplaces: []string{"anthropics/skills"},
		Bases: bases,
	}), nil
}

// hubTime bounds one request to a registry, which may download a large archive.
const hubTime = 10 * time.Minute

// hosts returns the hosts of addresses that the user chose.
func hosts(addresses ...string) []string {
	var list []string
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			list = append(list, strings.ToLower(u.Hostname()))
		}
	}
	return list
}
