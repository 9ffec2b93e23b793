// Package upkeep does what keeps a home well: a backup of the database from time to time and
// the index of its messages in the background ([Start]), and chores when the program ends
// ([Tidy]).
//
// It owns when that is done, so that no start is slowed and no end is delayed for long. It
// does not know what the chores do, nor the kind of database.
package upkeep

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/home"
)

const (
	// after is how long a program runs before it works on its database, so that no
	// start is slowed. One that ends earlier works on it at its end, if it is small.
	after = 10 * time.Second
	// atEnd is the size in bytes of the largest database that is worked on at the
	// end: the copy of one takes about a third of a second.
	atEnd = 32 << 20
	// endTime is how long that work may delay the end. What it does not finish is done
	// by a later run.
	endTime = 2 * time.Second
	// missedAfter is the number of intervals after which a large database without a backup is
	// copied from the start of a run on: all runs since were short. The end may then be delayed
	// as for a small one, but at most once in an interval.
	missedAfter = 3
)

// Database is the database of the home.
type Database interface {
	// AutoBackup makes a backup if the newest is older than every, keeps so many, and reports
	// whether it did.
	AutoBackup(ctx context.Context, keep int, every time.Duration) (bool, error)
	// PostponeBackup makes AutoBackup wait for its whole period.
	PostponeBackup(ctx context.Context) error
	// IndexWhole continues the index of long messages.
	IndexWhole(ctx context.Context) error
}

// Config says how the database is kept well.
type Config struct {
	Path  string // of the database
	Keep  int    // how many backups; 0 makes none
	Every time.Duration
	// Newest returns when the newest backup was begun, the zero time if there is none.
	Newest func() (time.Time, error)
	Log    *slog.Logger
}

// Start works on the database in the background. stop waits for it.
func Start(db Database, c Config) (stop func() error) {
	w := worker{db, c}
	ctx, cancel := context.WithCancel(context.Background())
	closing, done := make(chan struct{}), make(chan struct{})
	missed := w.large() && w.missed()
	go func() { // ended by stop
		defer close(done)
		if missed {
			w.backUp(ctx)
			if ctx.Err() != nil {
				if err := db.PostponeBackup(context.WithoutCancel(ctx)); err != nil {
					c.Log.Warn("postpone the backup of the database", "err", err)
				}
				c.Log.Warn("no backup of the database: all runs end before its copy is complete", "database", c.Path)
				return
			}
		}
		select {
		case <-time.After(after):
		case <-closing:
			if w.large() {
				return // the user waits; a longer run does it
			}
		}
		w.backUp(ctx)
		if err := db.IndexWhole(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("index long messages", "err", err)
		}
	}()
	return func() error {
		close(closing)
		if w.large() && !missed {
			cancel() // a copy that is ended is begun again by the next run
		}
		late := time.AfterFunc(endTime, cancel)
		defer late.Stop()
		<-done
		cancel()
		return nil
	}
}

type worker struct {
	Database
	Config
}

// large reports whether work on the database would be felt.
func (w worker) large() bool {
	info, err := os.Stat(w.Path)
	return err == nil && info.Size() > atEnd
}

// missed reports whether the newest backup is several intervals old (or, by a clock that
// was wrong, in the future), or there is none.
func (w worker) missed() bool {
	newest, err := w.Newest()
	return err == nil && w.Keep > 0 && time.Since(newest).Abs() > missedAfter*w.Every
}

// backUp copies the database if the last backup is old enough and the disk has room for it.
func (w worker) backUp(ctx context.Context) {
	info, err := os.Stat(w.Path)
	if err != nil || w.Keep == 0 {
		return
	}
	if free, err := home.Free(filepath.Dir(w.Path)); err == nil && free < 2*uint64(info.Size()) {
		w.Log.Warn("no backup of the database: the disk has too little space", "free", free, "database", info.Size())
		return
	}
	made, err := w.AutoBackup(ctx, w.Keep, w.Every)
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("back up the database", "err", err)
	}
	if made {
		w.Log.Debug("backed up the database")
	}
}
