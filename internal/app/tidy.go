package app

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/config"
	"hermes/internal/store/sqlite"
)

// tidyTime is how long tidying up may delay the end of the program.
const tidyTime = 2 * time.Second

// tidy returns the func that cleans up when the program ends. From time to time it
// deletes sessions past their retention, prunes caches, merges equal learnings and
// prunes the undo journal. Unattended runs do only what other runs may wait for.
func (a *App) tidy(store *sqlite.Store, cfg *config.Config) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
		defer cancel()
		if err := tidyOwners(ctx, cfg.Home(), store); err != nil {
			a.log().Warn("remove lock files", "err", err)
		}
		if !a.sessions.Attended() {
			return nil
		}
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
				return nil // the rest is done together with it
			}
			a.shrink(ctx, store, s)
		}
		if _, err := cfg.Home().PruneDue(now, every); err != nil {
			a.log().Warn("prune caches", "err", err)
		}
		sweepFolders(cfg.Home().Path())
		a.tidyLearnings(ctx)
		if err := a.changes(cfg.Home()).Prune(ctx, before); err != nil {
			a.log().Warn("prune the undo journal", "err", err)
		}
		return nil
	}
}

// sweptDepth is how deep below the home temporary files are searched for; no file that is
// replaced is deeper.
const sweptDepth = 4

// sweepFolders removes the temporary files that killed processes left in the home.
func sweepFolders(top string) {
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // unreadable folders are skipped, not fatal
		}
		rest, err := filepath.Rel(top, path)
		if err != nil || strings.Count(rest, string(filepath.Separator)) >= sweptDepth || rest == "checkpoints" {
			return fs.SkipDir
		}
		_, _ = atomicfile.Sweep(path) // the next pass tries again
		return nil
	})
}

// shrink returns the space of removed sessions to the disk.
func (a *App) shrink(ctx context.Context, store *sqlite.Store, s config.Sessions) {
	if !s.VacuumAfterPrune {
		return
	}
	if _, err := store.AutoShrink(ctx, time.Duration(s.MinVacuumIntervalDays)*24*time.Hour); err != nil {
		a.log().Warn("shrink the database", "err", err)
	}
}
