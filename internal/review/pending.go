package review

import (
	"context"
	"fmt"

	"hermes"
	"hermes/internal/store"
)

// maxCatchUp is how many pending reviews one process does.
const maxCatchUp = 3

func (r *Runner) queue(ctx context.Context) (store.Reviews, error) {
	if r.cfg.Queue == nil {
		return nil, nil
	}
	return r.cfg.Queue(ctx)
}

func (r *Runner) mark(ctx context.Context, s hermes.SessionRef) error {
	q, err := r.queue(ctx)
	if err != nil || q == nil {
		return err
	}
	return q.MarkReviewed(ctx, s.ID, s.Turn)
}

// Save reviews a session that has ended, if it has enough turns without review
// or if one of its reviews was due or running, which cut says. A review that
// cannot finish becomes pending, and a later process does it. If ctx has ended,
// the review is not begun but only added to the queue. Save shows no notice.
func (r *Runner) Save(ctx context.Context, t Conversation, cut bool) error {
	lasting := context.WithoutCancel(ctx) // the queue is written even if ctx ends
	if r.cfg.Pace.off() || !r.cfg.Pace.ends(t, r.lastOf(lasting, t.Session)) && !(cut && r.open(lasting, t)) {
		return nil
	}
	q, err := r.queue(lasting)
	if err != nil {
		return err
	}
	if q != nil {
		if err := q.AddPendingReview(lasting, t.Session.ID, t.Session.Turn, r.cfg.Now()); err != nil {
			return err
		}
	}
	if err = context.Cause(ctx); err == nil {
		_, err = r.review(ctx, t)
	}
	if err != nil && q != nil {
		if e := q.ReleaseReview(lasting, t.Session.ID); e != nil {
			return e
		}
	}
	return err
}

// open reports whether a review of this session is due, or was begun and not
// finished. The review that was cut off may be of another session.
func (r *Runner) open(ctx context.Context, t Conversation) bool {
	finished := r.finished(ctx, t.Session)
	return r.lastOf(ctx, t.Session) > finished || r.cfg.Pace.due(t, finished)
}

// hasPending reports whether a review of another session is pending.
func (r *Runner) hasPending(ctx context.Context, t Conversation) bool {
	q, err := r.queue(ctx)
	if err != nil || q == nil || r.cfg.Load == nil || r.cfg.Pace.off() || !r.mayCatchUp() {
		return false
	}
	pending, err := q.HasPendingReview(ctx, t.Session.ID, r.cfg.Now())
	return err == nil && pending
}

func (r *Runner) mayCatchUp() bool {
	r.rate.Lock()
	defer r.rate.Unlock()
	return r.caughtUp < maxCatchUp
}

// catchUp does the pending review of another session, if there is one.
func (r *Runner) catchUp(ctx context.Context, now Conversation) (outcome, error) {
	if !r.hasPending(ctx, now) {
		return outcome{}, nil
	}
	q, err := r.queue(ctx)
	if err != nil {
		return outcome{}, err
	}
	id, turn, err := q.ClaimReview(ctx, now.Session.ID, r.cfg.Now())
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
	t.Session.Turn = max(t.Session.Turn, turn) // the mark must cover the pending turn
	done, err := r.review(ctx, t)
	if err != nil {
		if e := q.ReleaseReview(context.WithoutCancel(ctx), id); e != nil {
			return outcome{}, e
		}
	}
	done.earlier = true
	return done, err
}
