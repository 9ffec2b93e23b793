package hermes

import (
	"context"
	"time"
)

// Learnings stores failures of tools and the fixes that helped. Stores
// implement it. All methods may be called concurrently, also by several
// processes on one store, and return when their change is committed.
type Learnings interface {
	// SaveLearning stores a fix for a failure. It replaces what is stored for
	// the same tool, class and pattern but keeps the counts. It returns the
	// learning as stored.
	SaveLearning(ctx context.Context, l Learning) (Learning, error)
	// NoteFailure counts a failure with this tool, class and pattern, and
	// stores it if it is new. It returns the learning; its Fix may be empty.
	NoteFailure(ctx context.Context, l Learning) (Learning, error)
	// NoteFix counts that a fix was shown, helped or did not help. It returns
	// ErrNotFound if the learning is gone.
	NoteFix(ctx context.Context, id int64, what FixOutcome, at time.Time) error
	// FindLearnings returns learnings, last touched first.
	FindLearnings(ctx context.Context, q LearningQuery) ([]Learning, error)
	// PutLearning stores a learning with its counts and times. It replaces
	// what is stored for the same tool, class and pattern, and keeps its ID if
	// that is free. It returns the learning as stored.
	PutLearning(ctx context.Context, l Learning) (Learning, error)
	// MergeLearnings merges several learnings into the one with the ID of l,
	// atomically. That one gets the fix, context, tags, session and provenance
	// of l, the sum of all counts, the earliest Created and the latest Touched;
	// the others are removed. If one is gone, it returns ErrNotFound and changes
	// nothing.
	MergeLearnings(ctx context.Context, l Learning, others ...int64) (Learning, error)
	// ForgetLearnings removes the learnings that f selects and returns how
	// many.
	ForgetLearnings(ctx context.Context, f Forgetting) (int, error)
}

// Learning is a failure of a tool and, once known, its fix.
type Learning struct {
	ID         int64
	Tool       string
	Class      string // the kind of failure
	Pattern    string // the message without the parts that vary
	Fix        string // empty while unknown
	Context    string // where the fix applies
	Tags       []string
	Session    string // in which it was saved
	Provenance string // untrusted text that this session had read, as in Message

	Created time.Time
	Touched time.Time // when it was last saved, seen or shown
	Seen    int       // how often the failure occurred
	Shown   int       // how often the fix was shown
	Helped  int       // how often the next try succeeded
	Failed  int       // how often the next try failed
}

// Trust says how reliable the fix has been, from 0 to 1. A fix that was never
// tried has 1.
func (l Learning) Trust() float64 {
	good := 1 + float64(l.Helped)
	return good / (good + 2*float64(l.Failed))
}

// FixOutcome says what a fix did.
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
	// Text selects learnings with each of its words in pattern, fix, context
	// or tags.
	Text  string
	Tag   string
	Known bool // only those with a fix
	Limit int  // 0 is 20, negative is all
}

// Forgetting selects learnings to remove; zero fields select none.
type Forgetting struct {
	IDs []int64
	// Unknown selects learnings without a fix that were last touched before
	// it, Known all learnings that were last touched before it.
	Unknown, Known time.Time
	// Most keeps this many and selects the rest: first those without a fix,
	// then those touched longest ago.
	Most int
}
