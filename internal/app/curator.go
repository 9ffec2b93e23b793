package app

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/skill"
)

// Curation returns the configured rules of the curator.
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

// curate runs the curator if it is due and the home was idle long enough before
// this program started.
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
		a.log().Warn("curate skills", "err", err)
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

// idleBefore returns how long ago the last message of any session was. Without
// sessions it is very long.
func idleBefore(ctx context.Context, store hermes.Store, now time.Time) time.Duration {
	list, err := store.ListSessions(ctx, hermes.SessionFilter{Limit: 1})
	if err != nil {
		return 0 // unknown: the curator waits
	}
	if len(list) == 0 {
		return 1 << 62
	}
	last := list[0].Active
	if list[0].Started.After(last) {
		last = list[0].Started
	}
	if last.After(now) {
		return 1 << 62 // the clock was set back
	}
	return now.Sub(last)
}
