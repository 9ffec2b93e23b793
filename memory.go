package hermes

import (
	"context"
	"time"
)

// MemoryProvider keeps what is known about the user for later sessions. The
// built-in one is always active; at most one external service is active with
// it. All methods may be called concurrently, and each call names its session:
// a provider has no current one.
type MemoryProvider interface {
	// Name is the word that selects the provider in the configuration.
	Name() string
	// SystemBlock returns the text of this memory for a new session's system
	// prompt, or "". It is called once for each session.
	SystemBlock(ctx context.Context) (string, error)
	// Recall returns what may help to answer a message of the user, as plain
	// text, or the zero value. It returns soon after ctx ends; the result is
	// then lost.
	Recall(ctx context.Context, q RecallQuery) (Recalled, error)
	// Observe gets each turn that ended successfully. It returns when the turn
	// is stored or handed on, or ctx ends.
	Observe(ctx context.Context, t MemoryTurn) error
	// Tools returns the model's tools for this memory, the same at every call.
	Tools() []Tool
}

// MaxRecall is the longest text recalled for one message, in characters.
const MaxRecall = 10_000

// RecallQuery asks for what may help to answer a message.
type RecallQuery struct {
	Session SessionRef
	Text    string // the user's message
}

// Recalled is what a memory found for a message; the zero value is nothing.
type Recalled struct {
	Text string
	// Provenance names the sources of untrusted text in it, as in [Message].
	// Text from an external service is always untrusted.
	Provenance string
}

// MemoryTurn is one exchange, without the parts that only the model sees.
type MemoryTurn struct {
	Session SessionRef // with its provenance
	Said    string     // by the user
	Answer  string     // by the agent
	At      time.Time
}

// Recollections stores short texts and finds them by words and by vector
// similarity. Stores implement it. All methods may be called concurrently and
// return when their change is committed.
type Recollections interface {
	// Remember stores texts. A text that is stored already is not stored again;
	// it gets the later time. If most is not 0, the oldest beyond it are
	// deleted.
	Remember(ctx context.Context, most int, list ...Recollection) error
	// Recollect returns matching texts, best first: those with words of the
	// query and those with a similar vector.
	Recollect(ctx context.Context, q RecollectionQuery) ([]Recollection, error)
	// ForgetRecollection deletes a text, or returns ErrNotFound.
	ForgetRecollection(ctx context.Context, id int64) error
}

// Recollection is a short text that a memory stored for later sessions.
type Recollection struct {
	ID      int64
	Session string // where it was said
	At      time.Time
	Text    string
	// Provenance names the sources of untrusted text in it, as in Message.
	Provenance string
	// Vector is the embedding of the text. Only vectors of the same length are
	// compared.
	Vector []int8
	// Score is how well it matches a query, from 0 to 1; it is not stored.
	Score float64
}

// RecollectionQuery selects texts. Without Text and Vector, it selects the
// newest.
type RecollectionQuery struct {
	Text    string
	Vector  []int8
	Exclude string  // a session to skip
	Least   float64 // the lowest Score to return
	Limit   int     // 0 means 10
}
