package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	// maxReviewTries is how often a review that is owed is begun.
	maxReviewTries = 3
	// reviewPause is how long a review may be under way before another process
	// begins it anew; it is longer than any review takes.
	reviewPause = 15 * time.Minute
)

// Reviewed returns the turn up to which a session was looked back at, 0 if it
// never was.
func (s *Store) Reviewed(ctx context.Context, session string) (turn int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT r.turn FROM session_reviews r JOIN sessions s ON s.key = r.session WHERE s.id = ?`, session).Scan(&turn)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return turn, s.cfg.explain(err)
}

// MarkReviewed stores up to which turn a session was looked back at. What was
// owed up to there is owed no more.
func (s *Store) MarkReviewed(ctx context.Context, session string, turn int64) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(session)
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO session_reviews (session, turn) VALUES (?1, ?2) ON CONFLICT (session) DO UPDATE SET
			turn = max(turn, excluded.turn), owed = iif(owed <= excluded.turn, 0, owed), tries = 0`, key, turn)
	})
}

// AddPendingReview notes that a session is to be looked back at, up to a turn. It
// counts as begun at that time, by whoever owes it.
func (s *Store) AddPendingReview(ctx context.Context, session string, turn int64, now time.Time) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(session)
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO session_reviews (session, owed, tries, tried_at) VALUES (?1, ?2, 1, ?3)
			ON CONFLICT (session) DO UPDATE SET owed = max(owed, excluded.owed), tries = 1, tried_at = excluded.tried_at`, key, turn, nanos(now))
	})
}

// ReleaseReview lets others begin a review that is owed at once, since whoever
// began it could not end it.
func (s *Store) ReleaseReview(ctx context.Context, session string) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(session)
		if err != nil {
			return err
		}
		return t.exec(`UPDATE session_reviews SET tried_at = 0 WHERE session = ?`, key)
	})
}

const pendingReviews = `r.owed > 0 AND r.tries < ?1 AND r.tried_at <= ?2 AND s.id <> ?3`

// HasPendingReview reports whether a review is owed that may be begun now, of another
// session than the one named.
func (s *Store) HasPendingReview(ctx context.Context, except string, now time.Time) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM session_reviews r JOIN sessions s ON s.key = r.session WHERE `+pendingReviews,
		maxReviewTries, nanos(now.Add(-reviewPause)), except).Scan(&n)
	return n > 0, s.cfg.explain(err)
}

// ClaimReview begins a review that is owed, of another session than the one
// named, and returns which; "" is none. It is owed until MarkReviewed, and left
// to no other for a while.
func (s *Store) ClaimReview(ctx context.Context, except string, now time.Time) (session string, turn int64, err error) {
	err = s.update(ctx, func(t *tx) error {
		var key int64
		err := t.row(`SELECT s.key, s.id, r.owed FROM session_reviews r JOIN sessions s ON s.key = r.session WHERE `+pendingReviews+` ORDER BY r.session DESC LIMIT 1`,
			[]any{maxReviewTries, nanos(now.Add(-reviewPause)), except}, &key, &session, &turn)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return t.exec(`UPDATE session_reviews SET tries = tries + 1, tried_at = ? WHERE session = ?`, nanos(now), key)
	})
	return session, turn, err
}
