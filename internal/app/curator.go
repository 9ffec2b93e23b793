package app

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/skill"
)

// Curation is the rules of the curator as they are configured.
func (a *App) Curation() (skill.Curation, error) {
	cfg, err := a.config()
	if err != nil {
		return skill.Curation{}, err
	}
	c := cfg.Curator()
	const day = 24 * time.Hour
	rules := skill.Curation{
		StaleAfter: time.Duration(c.StaleAfterDays) * day, ArchiveAfter: time.Duration(c.ArchiveAfterDays) * day,
		ArchiveTTL: time.Duration(c.ArchiveTTLDays) * day, Copies: c.PruneBuiltins, Consolidate: c.Consolidate,
	}
	if c.Backup.Enabled {
		rules.Backups = c.Backup.Keep
	}
	return rules, nil
}

// curate lets the curator work, where it is due and nobody had worked here for
// long enough before this program began.
func (a *App) curate(ctx context.Context, cfg *config.Config) {
	c := cfg.Curator()
	lib, err := a.skills()
	if err != nil || !c.Enabled || !cfg.Home().Exists() {
		return
	}
	due, err := lib.CuratorDue(ctx, time.Duration(c.IntervalHours)*time.Hour)
	if err == nil && due && a.idle >= time.Duration(c.MinIdleHours*float64(time.Hour)) {
		err = a.curateNow(ctx, lib)
	}
	if err != nil {
		a.log().Warn("look after the skills", "err", err)
	}
}

func (a *App) curateNow(ctx context.Context, lib *skill.Library) error {
	rules, err := a.Curation()
	if err != nil {
		return err
	}
	r, err := lib.Curate(ctx, rules, false)
	for _, k := range r.Archived {
		a.log().Info("archived a skill", "skill", k.Name, "why", k.Outcome)
	}
	for _, t := range r.Twins {
		a.log().Info("proposed to remove a skill", "skill", t.Name, "why", t.Why())
	}
	for _, k := range r.Purged {
		a.log().Info("deleted an archived skill", "skill", k.Name)
	}
	return err
}

// idleBefore is for how long nobody had said anything in any session of a
// home. Where there was none it is very long.
func idleBefore(ctx context.Context, store hermes.Store, now time.Time) time.Duration {
	list, err := store.ListSessions(ctx, hermes.SessionFilter{Limit: 1})
	if err != nil {
		return 0 // not known: the curator waits
	}
	if len(list) == 0 {
		return 1 << 62
	}
	last := list[0].Active
	if list[0].Started.After(last) {
		last = list[0].Started
	}
	return now.Sub(last)
}
