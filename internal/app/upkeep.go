package app

import (
	"context"
	"os"
	"time"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/store/sqlite"
)

const (
	// upkeepAfter is how long a program runs before it works on its database, so that no
	// start is slowed. One that ends earlier works on it at its end, if it is small.
	upkeepAfter = 10 * time.Second
	// upkeepAtEnd is the size in bytes of the largest database that is worked on at the
	// end: the copy of one takes about a third of a second.
	upkeepAtEnd = 32 << 20
	// upkeepTime is how long that work may delay the end. What it does not finish is done
	// by a later run.
	upkeepTime = 2 * time.Second
	// upkeepMissed is the number of intervals after which a large database without a backup is
	// copied from the start of a run on: all runs since were short. The end may then be delayed
	// as for a small one, but at most once in an interval.
	upkeepMissed = 3
)

// upkeep starts what keeps the database well, in the background: a backup from time to
// time, and the index of long messages. The returned func waits for it.
func (a *App) upkeep(store *sqlite.Store, cfg *config.Config) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	closing, done := make(chan struct{}), make(chan struct{})
	missed := large(cfg) && backupMissed(cfg)
	go func() { // ended by stop
		defer close(done)
		if missed {
			a.backUp(ctx, store, cfg)
			if ctx.Err() != nil {
				if err := store.PostponeBackup(context.WithoutCancel(ctx)); err != nil {
					a.log().Warn("postpone the backup of the database", "err", err)
				}
				a.log().Warn("no backup of the database: all runs end before its copy is complete", "database", cfg.Home().Database())
				return
			}
		}
		select {
		case <-time.After(upkeepAfter):
		case <-closing:
			if large(cfg) {
				return // the user waits; a longer run does it
			}
		}
		a.backUp(ctx, store, cfg)
		if err := store.IndexWhole(ctx); err != nil && ctx.Err() == nil {
			a.log().Warn("index long messages", "err", err)
		}
	}()
	return func() error {
		close(closing)
		if large(cfg) && !missed {
			cancel() // a copy that is ended is begun again by the next run
		}
		late := time.AfterFunc(upkeepTime, cancel)
		defer late.Stop()
		<-done
		cancel()
		return nil
	}
}

// large reports whether work on the database would be felt.
func large(cfg *config.Config) bool {
	info, err := os.Stat(cfg.Home().Database())
	return err == nil && info.Size() > upkeepAtEnd
}

// backupMissed reports whether the newest backup is several intervals old (or, by a clock that
// was wrong, in the future), or there is none.
func backupMissed(cfg *config.Config) bool {
	db := cfg.Database()
	age := upkeepMissed * time.Duration(db.BackupHours) * time.Hour
	list, err := StoreConfig(cfg).BackupFiles()
	return err == nil && db.Backups > 0 && (len(list) == 0 || time.Since(sqlite.BackupTime(list[0])).Abs() > age)
}

// backUp copies the database if the last backup is old enough and the disk has room for it.
func (a *App) backUp(ctx context.Context, store *sqlite.Store, cfg *config.Config) {
	db := cfg.Database()
	info, err := os.Stat(cfg.Home().Database())
	if err != nil || db.Backups == 0 {
		return
	}
	if free, err := home.Free(cfg.Home().Path()); err == nil && free < 2*uint64(info.Size()) {
		a.log().Warn("no backup of the database: the disk has too little space", "free", free, "database", info.Size())
		return
	}
	made, err := store.AutoBackup(ctx, db.Backups, time.Duration(db.BackupHours)*time.Hour)
	if err != nil && ctx.Err() == nil {
		a.log().Warn("back up the database", "err", err)
	}
	if made {
		a.log().Debug("backed up the database")
	}
}
