package review

import (
	"context"
	"fmt"
	"time"

	"hermes"
)

// Queue keeps which sessions were looked at, and where that is owed: it was
// begun and could not be ended, mostly because the program was left. Its
// methods may be called by several processes.
type Queue interface {
	// Reviewed is the turn up to which a session was looked at, 0 for never.
	Reviewed(ctx context.Context, session string) (turn int64, err error)
	// MarkReviewed notes that; what was owed up to there is owed no more.
	MarkReviewed(ctx context.Context, session string, turn int64) error
	// AddPendingReview notes that a session is to be looked at, and is just now.
	AddPendingReview(ctx context.Context, session string, turn int64, now time.Time) error
	// ReleaseReview lets others do so at once.
	ReleaseReview(ctx context.Context, session string) error
	// HasPendingReview reports whether there is one to take.
	HasPendingReview(ctx context.Context, except string, now time.Time) (bool, error)
	// ClaimReview begins one that is owed, "" if there is none, and a few times
	// at most: it is owed until it is marked.
	ClaimReview(ctx context.Context, except string, now time.Time) (session string, turn int64, err error)
}

// maxCatchUp bounds the reviews that one process makes up for.
const maxCatchUp = 3

func (r *Runner) queue(ctx context.Context) (Queue, error) {
	if r.cfg.Queue == nil {
		return nil, nil
	}
	return r.cfg.Queue(ctx)
}

func (r *Runner) mark(ctx context.Context, s hermes.SessionRef) error {
	b, err := r.queue(ctx)
	if err != nil || b == nil {
		return err
	}
	return b.MarkReviewed(ctx, s.ID, s.Turn)
}

// Save looks back at a session that has ended, if enough was said that nobody
// looked at, or one of its reviews was due or under way: cut says that
// something was. What cannot be finished is owed: a later process makes up for
// it, and one for which there is no time, since ctx has ended, is not begun.
// Nobody is told.
func (r *Runner) Save(ctx context.Context, t Conversation, cut bool) error {
	lasting := context.WithoutCancel(ctx) // the note must outlive what it is about
	if r.cfg.Pace.off() || !r.cfg.Pace.ends(t, r.lastOf(lasting, t.Session)) && !(cut && r.open(lasting, t)) {
		return nil
	}
	b, err := r.queue(lasting)
	if err != nil {
		return err
	}
	if b != nil {
		if err := b.AddPendingReview(lasting, t.Session.ID, t.Session.Turn, r.cfg.Now()); err != nil {
			return err
		}
	}
	if err = context.Cause(ctx); err == nil {
		_, err = r.look(ctx, t)
	}
	if err != nil && b != nil {
		if e := b.ReleaseReview(lasting, t.Session.ID); e != nil {
			return e
		}
	}
	return err
}

// open reports whether a review of this session is due, or was begun and not
// finished: what was cut off may have been of another one.
func (r *Runner) open(ctx context.Context, t Conversation) bool {
	booked := r.booked(ctx, t.Session)
	return r.lastOf(ctx, t.Session) > booked || r.cfg.Pace.due(t, booked)
}

// hasPending reports whether a review of another session is owed.
func (r *Runner) hasPending(ctx context.Context, t Conversation) bool {
	b, err := r.queue(ctx)
	if err != nil || b == nil || r.cfg.Load == nil || r.cfg.Pace.off() || !r.mayCatchUp() {
		return false
	}
	pending, err := b.HasPendingReview(ctx, t.Session.ID, r.cfg.Now())
	return err == nil && pending
}

func (r *Runner) mayCatchUp() bool {
	r.rate.Lock()
	defer r.rate.Unlock()
	return r.caughtUp < maxCatchUp
}

// catchUp looks at a session whose review is owed, if there is one.
func (r *Runner) catchUp(ctx context.Context, now Conversation) (outcome, error) {
	if !r.hasPending(ctx, now) {
		return outcome{}, nil
	}
	b, err := r.queue(ctx)
	if err != nil {
		return outcome{}, err
	}
	id, turn, err := b.ClaimReview(ctx, now.Session.ID, r.cfg.Now())
	if err != nil || id == "" {
		return outcome{}, err
	}
	r.rate.Lock()
	r.caughtUp++
	r.rate.Unlock()
	t, err := r.cfg.Load(ctx, id)
	if err != nil {
		return outcome{}, fmt.Errorf("read the session %s: %w", id, err)
	}
	t.Session.Turn = max(t.Session.Turn, turn) // what is marked covers what was owed
	done, err := r.look(ctx, t)
	if err != nil {
		if e := b.ReleaseReview(context.WithoutCancel(ctx), id); e != nil {
			return outcome{}, e
		}
	}
	done.earlier = true
	return done, err
}
