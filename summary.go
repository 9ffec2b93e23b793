package hermes

import (
	"context"
	"time"
)

// Summaries stores what sessions were about, in a few sentences each. Stores
// implement it. All methods may be called concurrently and return when their
// change is committed.
type Summaries interface {
	// SaveSummary stores the summary of a session and replaces an older one.
	// It is deleted with its session. If there is no such session, the error
	// is ErrNotFound.
	SaveSummary(ctx context.Context, s Summary) error
	// Summaries returns the stored summaries of these sessions, by session id.
	// Sessions without one are not an error.
	Summaries(ctx context.Context, sessions ...string) (map[string]Summary, error)
	// FindSummaries returns the summaries that contain every word of text, in
	// any case and also inside words, newest first. It returns at most limit,
	// or 20 if limit is 0.
	FindSummaries(ctx context.Context, text string, limit int) ([]Summary, error)
}

// Summary is what a session was about.
type Summary struct {
	Session string // its id
	Text    string
	At      time.Time // when it was written
}
