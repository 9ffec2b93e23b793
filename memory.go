package hermes

import (
	"context"
	"time"
)

// MemoryProvider keeps what persists about the person from session to session.
// The built-in one is always there; at most one outside service stands beside
// it. All methods may be called concurrently, and each call names its session:
// a provider has no current one.
type MemoryProvider interface {
	// Name is the word that selects the provider in the configuration.
	Name() string
	// SystemBlock is what a new session's system prompt says of this memory,
	// "" for nothing. It is asked once in the life of a session.
	SystemBlock(ctx context.Context) (string, error)
	// Recall returns what is known that may help with a message of the
	// person, the zero value for nothing, without a fence round it. It returns soon after
	// ctx ends; what it found until then is lost.
	Recall(ctx context.Context, q RecallQuery) (Recalled, error)
	// Observe is told of a turn that has ended well. It returns when the turn
	// is kept or handed on, or ctx ends.
	Observe(ctx context.Context, t MemoryTurn) error
	// Tools are what the model may do with this memory; the same at every call.
	Tools() []Tool
}

// MaxRecall bounds what is recalled for one message, in characters.
const MaxRecall = 10_000

// RecallQuery asks for what is known that bears on a message.
type RecallQuery struct {
	Session SessionRef
	Text    string // what the person said
}

// Recalled is what is known that may help with a message; the zero value is
// nothing.
type Recalled struct {
	Text string
	// Provenance says what of it neither the person nor the model wrote, as in
	// [Message]. What a service elsewhere keeps is always from outside.
	Provenance string
}

// MemoryTurn is one exchange, without what only the model sees.
type MemoryTurn struct {
	Session SessionRef // with what text from outside it had seen
	Said    string     // by the person
	Answer  string     // by the agent
	At      time.Time
}

// Recollections keeps short texts that are found again by their words and by
// their likeness to a question. Stores implement it. All methods may be called
// concurrently and return when what they did is committed.
type Recollections interface {
	// Remember stores texts. One that is stored already is not stored again:
	// it gets the later time. Beyond most, if not 0, the oldest are dropped.
	Remember(ctx context.Context, most int, list ...Recollection) error
	// Recollect finds texts, the best first: those that hold words of the
	// question and those whose vector points the same way.
	Recollect(ctx context.Context, q RecollectionQuery) ([]Recollection, error)
	// ForgetRecollection removes one; ErrNotFound if there is none.
	ForgetRecollection(ctx context.Context, id int64) error
}

// Recollection is a text that is kept.
type Recollection struct {
	ID      int64
	Session string // where it was said
	At      time.Time
	Text    string
	// Provenance says what text from outside may stand in it, as in Message.
	Provenance string
	// Vector says what the text is about; vectors of one length compare.
	Vector []int8
	// Score is how well it fits a query, from 0 to 1; it is not stored.
	Score float64
}

// RecollectionQuery asks for texts. Without words and vector the newest come.
type RecollectionQuery struct {
	Text    string
	Vector  []int8
	Exclude string  // a session to leave out
	Least   float64 // the smallest Score to return
	Limit   int     // 0 is 10
}
