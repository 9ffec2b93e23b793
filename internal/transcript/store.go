package transcript

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"hermes"
)

// Store stores a conversation as a session, whole or not at all, and returns it. The id is
// derived from that in the file, so that a file is not imported twice; a file without one
// goes by its name, one without a time by now. All messages are marked as untrusted.
func Store(ctx context.Context, s hermes.Store, r Read, name string, now time.Time) (hermes.Session, error) {
	origin := cmp.Or(r.Origin, name)
	row := r.Session
	if row.Started.IsZero() {
		row.Started = now
	}
	sum := sha256.Sum256([]byte(origin))
	row.ID = row.Started.UTC().Format("20060102_150405") + "_" + hex.EncodeToString(sum[:4])
	row.Platform = "import"
	old, err := s.FindSession(ctx, row.ID)
	switch {
	case err != nil || old.ID != row.ID:
	case old.Messages > 0:
		return row, fmt.Errorf("already imported as session %s", row.ID)
	default: // the program ended before its messages were stored
		if err := s.DeleteSession(ctx, row.ID); err != nil {
			return row, err
		}
	}
	if row.Title, err = freeTitle(ctx, s, row.Title); err != nil {
		return row, err
	}
	if err := s.CreateSession(ctx, row); err != nil {
		return row, err
	}
	for i := range r.Messages { // imported messages are untrusted, whatever their role
		r.Messages[i].Provenance = hermes.ProvenanceSource("import of", name)
	}
	if _, err := s.Commit(ctx, hermes.Lease{Session: row.ID}, hermes.Change{Append: r.Messages}); err != nil {
		return row, errors.Join(err, s.DeleteSession(context.WithoutCancel(ctx), row.ID))
	}
	return row, nil
}

// freeTitle cleans a title and adds a number if another session has it.
func freeTitle(ctx context.Context, s hermes.Store, title string) (string, error) {
	title, err := hermes.CleanTitle(title)
	if err != nil || title == "" {
		return "", nil // no title is better than a bad one
	}
	for range 100 {
		row, err := s.FindSession(ctx, title)
		if errors.Is(err, hermes.ErrNotFound) || err == nil && row.Title != title {
			return title, nil
		}
		if err != nil {
			return "", err
		}
		title = hermes.NextTitle(title)
	}
	return "", nil
}
