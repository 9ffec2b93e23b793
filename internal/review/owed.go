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
	// OweReview notes that a session is to be looked at, and is just now.
	OweReview(ctx context.Context, session string, turn int64, now time.Time) error
	// LeaveReview lets others do so at once.
	LeaveReview(ctx context.Context, session string) error
	// OwesReview reports whether there is one to take.
	OwesReview(ctx context.Context, except string, now time.Time) (bool, error)
	// TakeReview begins one that is owed, "" if there is none, and a few times
	// at most: it is owed until it is marked.
	TakeReview(ctx context.Context, except string, now time.Time) (session string, turn int64, err error)
}

// maxOwing bounds the reviews that one process makes up for.
const maxOwing = 3

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
func (r *Runner) Save(ctx context.Context, t Talk, cut bool) error {
	lasting := context.WithoutCancel(ctx) // the note must outlive what it is about
	if r.cfg.Pace.off() || !r.cfg.Pace.ends(t, r.lastOf(lasting, t.Session)) && !(cut && r.open(lasting, t)) {
		return nil
	}
	b, err := r.queue(lasting)
	if err != nil {
		return err
	}
	if b != nil {
		if err := b.OweReview(lasting, t.Session.ID, t.Session.Turn, r.cfg.Now()); err != nil {
			return err
		}
	}
	if err = context.Cause(ctx); err == nil {
		_, err = r.look(ctx, t)
	}
	if err != nil && b != nil {
		if e := b.LeaveReview(lasting, t.Session.ID); e != nil {
			return e
		}
	}
	return err
}

// open reports whether a review of this session is due, or was begun and not
// finished: what was cut off may have been of another one.
func (r *Runner) open(ctx context.Context, t Talk) bool {
	booked := r.booked(ctx, t.Session)
	return r.lastOf(ctx, t.Session) > booked || r.cfg.Pace.due(t, booked)
}

// owes reports whether a review of another session is owed.
func (r *Runner) owes(ctx context.Context, t Talk) bool {
	b, err := r.queue(ctx)
	if err != nil || b == nil || r.cfg.Load == nil || r.cfg.Pace.off() || !r.mayOwe() {
		return false
	}
	owes, err := b.OwesReview(ctx, t.Session.ID, r.cfg.Now())
	return err == nil && owes
}

func (r *Runner) mayOwe() bool {
	r.rate.Lock()
	defer r.rate.Unlock()
	return r.owing < maxOwing
}

// makeUp looks at a session whose review is owed, if there is one.
func (r *Runner) makeUp(ctx context.Context, now Talk) (outcome, error) {
	if !r.owes(ctx, now) {
		return outcome{}, nil
	}
	b, err := r.queue(ctx)
	if err != nil {
		return outcome{}, err
	}
	id, turn, err := b.TakeReview(ctx, now.Session.ID, r.cfg.Now())
	if err != nil || id == "" {
		return outcome{}, err
	}
	r.rate.Lock()
	r.owing++
	r.rate.Unlock()
	t, err := r.cfg.Load(ctx, id)
	if err != nil {
		return outcome{}, fmt.Errorf("read the session %s: %w", id, err)
	}
	t.Session.Turn = max(t.Session.Turn, turn) // what is marked covers what was owed
	done, err := r.look(ctx, t)
	if err != nil {
		if e := b.LeaveReview(context.WithoutCancel(ctx), id); e != nil {
			return outcome{}, e
		}
	}
	done.earlier = true
	return done, err
}
