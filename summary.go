package hermes

import (
	"context"
	"time"
)

// Summaries keeps what sessions were about, in a few sentences each. Stores
// implement it. All methods may be called concurrently and return when what
// they did is committed.
type Summaries interface {
	// SaveSummary stores the summary of a session in the place of an older
	// one. It goes with its session; ErrNotFound if there is none.
	SaveSummary(ctx context.Context, s Summary) error
	// Summaries returns those there are of these sessions, by their ids. It is
	// no error if there are none.
	Summaries(ctx context.Context, sessions ...string) (map[string]Summary, error)
	// FindSummaries returns the summaries that hold every word of a text, any
	// case and also within words, the newest first; so many, or 20.
	FindSummaries(ctx context.Context, text string, limit int) ([]Summary, error)
}

// Summary is what a session was about.
type Summary struct {
	Session string // its id
	Text    string
	At      time.Time // when it was written
}
