package app

import (
	"context"
	"errors"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/lease"
	"hermes/internal/liveness"
	"hermes/internal/owner"
	"hermes/internal/skill"
	"hermes/internal/store"
	"hermes/internal/upkeep"
)

// makeLeaseOwner names this process as the owner of leases.
func (a *App) makeLeaseOwner() hermes.Owner {
	h, err := a.home()
	if err != nil {
		return hermes.Owner{Name: lease.NewName()} // reported where the home is needed
	}
	o, err := lease.NewOwner(h.Join("run"))
	if err != nil {
		a.log().Warn("show that this process runs", "error", err)
	}
	a.closing(func() error {
		return o.Close(func(ctx context.Context) ([]string, error) {
			if db := a.opened.Load(); db != nil {
				return (*db).LeaseOwners(ctx)
			}
			return nil, nil
		})
	})
	return hermes.Owner{Name: o.Name}
}

// upkeep starts what keeps the database well; stop ends it.
func (a *App) upkeep(db store.Database, cfg *config.Config) (stop func() error) {
	s := cfg.Database()
	return upkeep.Start(db, upkeep.Config{
		Path: cfg.Home().Database(), Keep: s.Backups, Every: time.Duration(s.BackupHours) * time.Hour, Log: a.log(),
		Newest: StoreConfig(cfg).NewestBackup,
	})
}

// tidy returns the func that cleans up when the program ends. unused is how long the home was
// unused before it. Unattended runs do only what other runs may wait for.
func (a *App) tidy(db store.Database, cfg *config.Config, unused time.Duration) func() error {
	return func() error {
		chores := a.chores(db, cfg, unused)
		if !a.sessions.Attended() {
			chores = chores[:1]
		}
		upkeep.Tidy(a.log(), chores)
		return nil
	}
}

// chores lists what is cleaned up, in its order.
func (a *App) chores(db store.Database, cfg *config.Config, unused time.Duration) []upkeep.Chore {
	s := cfg.Sessions()
	before := a.opts.Now().AddDate(0, 0, -s.RetentionDays)
	every := time.Duration(s.MinIntervalHours) * time.Hour
	return []upkeep.Chore{
		{Name: "remove locks, sockets and folders of browsers", Do: func(ctx context.Context) error {
			liveness.Sweep(cfg.Home().Cache("browser"), browserFolder)
			return errors.Join(lease.Tidy(ctx, cfg.Home().Join("run"), db.LeaseOwners), owner.Tidy(ctx, cfg.Home().Join("run")))
		}},
		{Name: "curate skills", Do: func(ctx context.Context) error {
			lib, err := a.skills()
			if err != nil || !cfg.Curator().Enabled || !cfg.Home().Exists() {
				return nil
			}
			return lib.CurateDue(ctx, curation(cfg), unused, a.log())
		}},
		{Name: "remove old sessions", Do: func(ctx context.Context) error {
			if !s.AutoPrune {
				return nil
			}
			done, err := db.AutoPrune(ctx, store.Retention{Before: before}, every)
			if !done {
				err = errors.Join(err, upkeep.ErrNotDue)
			}
			return err
		}},
		{Name: "shrink the database", Do: func(ctx context.Context) error {
			if !s.AutoPrune || !s.VacuumAfterPrune {
				return nil
			}
			_, err := db.AutoShrink(ctx, time.Duration(s.MinVacuumIntervalDays)*24*time.Hour)
			return err
		}},
		{Name: "prune caches", Do: func(context.Context) error {
			_, err := cfg.Home().PruneDue(a.opts.Now(), every)
			return err
		}},
		{Name: "remove temporary files", Do: func(context.Context) error {
			upkeep.Sweep(cfg.Home().Path())
			return nil
		}},
		{Name: "tidy learnings", Do: func(ctx context.Context) error { return a.Learned().TidyNow(ctx, a.log()) }},
		{Name: "prune checkpoints", Do: func(ctx context.Context) error { return a.pruneCheckpoints(ctx, cfg) }},
		{Name: "prune the undo journal", Do: func(ctx context.Context) error { return a.changes(cfg.Home()).Prune(ctx, before) }},
	}
}

// Curation returns the configured rules of the curator.
func (a *App) Curation() (skill.Curation, error) {
	cfg, err := a.config()
	if err != nil {
		return skill.Curation{}, err
	}
	return curation(cfg), nil
}

func curation(cfg *config.Config) skill.Curation {
	c := cfg.Curator()
	const day = 24 * time.Hour
	rules := skill.Curation{
		StaleAfter: time.Duration(c.StaleAfterDays) * day, ArchiveAfter: time.Duration(c.ArchiveAfterDays) * day,
		ArchiveTTL: time.Duration(c.ArchiveTTLDays) * day, Copies: c.PruneBuiltins, Consolidate: c.Consolidate,
		Every: time.Duration(c.IntervalHours) * time.Hour, MinIdle: time.Duration(c.MinIdleHours * float64(time.Hour)),
	}
	if c.Backup.Enabled {
		rules.Backups = c.Backup.Keep
	}
	return rules
}
