package hermes

import (
	"context"
	"time"
)

// Learnings keeps what went wrong with tools and what helped. Stores implement
// it. All methods may be called concurrently, from several processes on one
// store, and return when what they did is committed.
type Learnings interface {
	// SaveLearning stores what helps against a failure, in the place of what
	// was stored for the same tool, class and pattern; the counts stay. It
	// returns the learning as it is stored.
	SaveLearning(ctx context.Context, l Learning) (Learning, error)
	// NoteFailure counts a failure by tool, class and pattern, and stores it
	// if it is new. It returns the learning, whose Fix may be empty.
	NoteFailure(ctx context.Context, l Learning) (Learning, error)
	// NoteFix counts that a fix was shown, helped or did not help, at a time.
	// ErrNotFound if the learning is gone.
	NoteFix(ctx context.Context, id int64, what FixOutcome, at time.Time) error
	// FindLearnings returns learnings, the last touched first.
	FindLearnings(ctx context.Context, q LearningQuery) ([]Learning, error)
	// PutLearning stores a learning as it is, with its counts and times, in
	// the place of what was stored for the same tool, class and pattern. It
	// keeps its ID where that is free; the learning is returned as it stands.
	PutLearning(ctx context.Context, l Learning) (Learning, error)
	// MergeLearnings makes one learning of several, all at once: the one with
	// the ID of l gets the fix, context, tags, session and outside of l, the counts of
	// the others are added to its own, it has the earliest beginning and the
	// latest touch, and the others are removed. ErrNotFound if one is gone;
	// then nothing is changed.
	MergeLearnings(ctx context.Context, l Learning, others ...int64) (Learning, error)
	// ForgetLearnings removes those with an id, and what nobody needs any
	// more: failures without a fix untouched since unknown, learnings untouched
	// since known, and the longest untouched beyond most, if not 0.
	ForgetLearnings(ctx context.Context, f Forgetting) (int, error)
}

// Learning is a failure and, once it is known, what helps against it.
type Learning struct {
	ID         int64
	Tool       string
	Class      string // the kind of failure
	Pattern    string // the message, without what differs each time
	Fix        string // empty while nobody knows
	Context    string // where it holds
	Tags       []string
	Session    string // in which it was saved
	Provenance string // what text from outside that session had seen, as in Message

	Created time.Time
	Touched time.Time // when it was last saved, seen or shown
	Seen    int       // how often the failure came
	Shown   int       // how often the fix was shown
	Helped  int       // how often the next try went well
	Failed  int       // how often it did not
}

// Trust is how far a fix has proved itself, from 0 to 1. One of which nothing
// is known is trusted.
func (l Learning) Trust() float64 {
	good := 1 + float64(l.Helped)
	return good / (good + 2*float64(l.Failed))
}

// FixOutcome is what came of a fix.
type FixOutcome string

// The outcomes that are counted.
const (
	FixShown  FixOutcome = "shown"
	FixHelped FixOutcome = "helped"
	FixFailed FixOutcome = "failed"
)

// LearningQuery narrows a list; zero fields do not narrow.
type LearningQuery struct {
	Tool    string
	Class   string
	Pattern string
	// Text must be found in pattern, fix, context or tags, each word of it.
	Text  string
	Tag   string
	Known bool // only those with a fix
	Limit int  // 0 is 20, negative is all
}

// Forgetting says what to remove; zero fields remove nothing.
type Forgetting struct {
	IDs            []int64
	Unknown, Known time.Time
	Most           int
}
