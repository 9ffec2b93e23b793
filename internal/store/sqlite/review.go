package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	// maxReviewTries is how often a pending review is started.
	maxReviewTries = 3
	// reviewPause is how long a review may run before another process starts it
	// again; it is longer than any review takes.
	reviewPause = 15 * time.Minute
)

// Reviewed returns the turn up to which a session was reviewed, 0 if it never was.
func (s *Store) Reviewed(ctx context.Context, session string) (turn int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT r.turn FROM session_reviews r JOIN sessions s ON s.key = r.session WHERE s.id = ?`, session).Scan(&turn)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return turn, s.cfg.explain(err)
}

// MarkReviewed stores the turn up to which a session was reviewed. It removes a
// pending review up to that turn.
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

// AddPendingReview records that a session must be reviewed up to a turn. The review
// counts as started now, by the caller.
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

// ReleaseReview lets others start a pending review immediately, because the process
// that started it could not finish.
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

// HasPendingReview reports whether a review of a session other than except is pending
// and may start now.
func (s *Store) HasPendingReview(ctx context.Context, except string, now time.Time) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM session_reviews r JOIN sessions s ON s.key = r.session WHERE `+pendingReviews,
		maxReviewTries, nanos(now.Add(-reviewPause)), except).Scan(&n)
	return n > 0, s.cfg.explain(err)
}

// ClaimReview starts a pending review of a session other than except and returns its
// id, "" if there is none. The review stays pending until MarkReviewed; for
// reviewPause no other process can claim it.
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
