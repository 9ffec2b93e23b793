package app

import (
	"context"
	"time"

	"hermes/internal/config"
	"hermes/internal/store/sqlite"
)

// tidyTime is how long tidying up may hold back the end of the program.
const tidyTime = 2 * time.Second

// tidy returns what is done when the program ends: once in a while sessions
// past their retention go, caches shrink to their quotas, learnings that say
// the same are joined, and the journal of undo forgets what is old. A single
// question does not wait for that.
func (a *App) tidy(store *sqlite.Store, cfg *config.Config) func() error {
	return func() error {
		if !a.opts.Attended {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
		defer cancel()
		a.curate(ctx, cfg)
		s, now := cfg.Sessions(), a.opts.Now()
		before := now.AddDate(0, 0, -s.RetentionDays)
		every := time.Duration(s.MinIntervalHours) * time.Hour
		if s.AutoPrune {
			done, err := store.AutoPrune(ctx, sqlite.Retention{Before: before}, every)
			if err != nil {
				a.log().Warn("remove old sessions", "err", err)
			}
			if !done {
				return nil // and the rest with it, once in a while
			}
		}
		if _, err := cfg.Home().PruneDue(now, every); err != nil {
			a.log().Warn("shrink the caches", "err", err)
		}
		a.tidyLearnings(ctx)
		if err := a.changes(cfg.Home()).Prune(ctx, before); err != nil {
			a.log().Warn("forget old changes", "err", err)
		}
		return nil
	}
}
