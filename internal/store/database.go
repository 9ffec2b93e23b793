// Package store declares what a database engine of Hermes implements:
// [Database]. The views that components use are in the core package; those
// here concern a database as a whole. Only internal/app names an engine.
// internal/storetest has the contract of all of it.
package store

import (
	"context"
	"time"

	"hermes"
)

// Database is an open database with everything that Hermes stores. Its methods
// may be called concurrently.
type Database interface {
	hermes.Store
	hermes.Summaries
	hermes.Ledger
	hermes.Learnings
	hermes.Recollections
	hermes.Activity
	Reviews
	Pruner
	Upkeep
	// LeaseOwners returns the owners of leases that have not expired, each once. Unlike
	// Leases it includes owners that have ended: their leases still need the files that
	// show it.
	LeaseOwners(ctx context.Context) ([]string, error)
}

// Reviews stores which sessions were reviewed and which reviews are pending:
// they were begun but not finished, mostly because the program ended. Several
// processes may use it at once.
type Reviews interface {
	// Reviewed returns the turn up to which a session was reviewed, 0 for none.
	Reviewed(ctx context.Context, session string) (turn int64, err error)
	// MarkReviewed stores that turn. A pending review up to it is done.
	MarkReviewed(ctx context.Context, session string, turn int64) error
	// AddPendingReview adds a pending review and claims it for the caller.
	AddPendingReview(ctx context.Context, session string, turn int64, now time.Time) error
	// ReleaseReview ends the claim, so that others may claim the review.
	ReleaseReview(ctx context.Context, session string) error
	// HasPendingReview reports whether there is a review to claim, except that
	// of one session.
	HasPendingReview(ctx context.Context, except string, now time.Time) (bool, error)
	// ClaimReview claims a pending review, except that of one session, or
	// returns "". It stays pending until it is marked. A review can be claimed
	// only a few times.
	ClaimReview(ctx context.Context, except string, now time.Time) (session string, turn int64, err error)
}

// Pruner removes old sessions and returns their space.
type Pruner interface {
	// Prune removes the sessions past their retention, with their messages, and
	// returns how many. It keeps their children, without a parent.
	Prune(ctx context.Context, r Retention) (int, error)
	// AutoPrune prunes unless this or another process did so less than every
	// ago. It reports whether it did. It returns no space; see AutoShrink.
	AutoPrune(ctx context.Context, r Retention, every time.Duration) (bool, error)
	// AutoShrink returns free space to the disk if there is much, unless this or
	// another process did so less than every ago. It reports whether it did.
	AutoShrink(ctx context.Context, every time.Duration) (bool, error)
}

// Retention says which sessions may be removed: those that have ended, are not pinned
// and were last active before a time. Zero fields do not narrow.
type Retention struct {
	Before   time.Time
	Platform string
}

// Upkeep keeps a database sound and fast.
type Upkeep interface {
	// Check reads all that is stored and reports damage.
	Check(ctx context.Context) error
	// Backup writes a complete copy to a new file, which only the owner may
	// read. Others may continue to write. The file appears when it is complete.
	Backup(ctx context.Context, to string) error
	// AutoBackup makes a backup beside the others unless this or another process
	// began one less than every ago, and removes the oldest but keep. It reports
	// whether it made one. One that fails is tried again after every, one that
	// the context ends by the next call.
	AutoBackup(ctx context.Context, keep int, every time.Duration) (bool, error)
	// PostponeBackup makes AutoBackup wait for its whole period, as if a backup
	// had been made now.
	PostponeBackup(ctx context.Context) error
	// Optimize merges indexes and returns free space to the disk, in steps, so
	// that others can write in between.
	Optimize(ctx context.Context) error
	// IndexWhole continues the index of long messages that an earlier version
	// indexed in part.
	IndexWhole(ctx context.Context) error
}

// Repaired reports what the repair of a damaged database saved.
type Repaired struct {
	Sessions, Messages int
	// Lost counts ranges of rows that could not be read; the number of rows in
	// them is unknown.
	Lost int
	// Kept is where the damaged database is now.
	Kept string
	// Backup is the copy from which lost rows were taken, "" if none was needed
	// or there is none. FromBackup counts the messages among them.
	Backup     string
	FromBackup int
}
