package hermes

import (
	"context"
	"encoding/json"
	"time"
)

// Store keeps sessions. Every call names its session: there is no current
// one. All methods may be called concurrently and return when what they did
// is committed; errors leave everything as it was. Things that do not exist
// give ErrNotFound.
type Store interface {
	Sessions
	Transcript
	Compactor
	Journal
	Leases
	Search
	// Close waits for writes under way and frees the database.
	Close() error
}

// Sessions is the view of the rows.
type Sessions interface {
	// CreateSession stores a new row; ID and Started must be set. A taken
	// title is ErrTitleTaken.
	CreateSession(ctx context.Context, s Session) error
	// FindSession takes an id, a unique prefix of one, or a title; of titles
	// numbered "x #2" the newest of "x" is found by "x". Several matches are
	// ErrAmbiguous.
	FindSession(ctx context.Context, ref string) (Session, error)
	// ListSessions returns rows, last active first, without System and Tools.
	ListSessions(ctx context.Context, f SessionFilter) ([]Session, error)
	// UpdateSession changes what is set in the change.
	UpdateSession(ctx context.Context, id string, c SessionChange) error
	// DeleteSession removes a session with its messages; children are kept
	// and lose their parent.
	DeleteSession(ctx context.Context, id string) error
	// Stats counts what the store holds.
	Stats(ctx context.Context) (StoreStats, error)
}

// SessionFilter narrows a list; zero fields do not narrow.
type SessionFilter struct {
	Platform string
	Exclude  []string // sources to leave out
	Dir      string
	Title    string // substring, any case
	Parent   string
	Before   time.Time // last active before
	After    time.Time // last active at or after
	Ended    *bool
	Archived bool // include archived ones
	NonEmpty bool // only those with messages
	Limit    int  // 0 is 20, negative is all
	Offset   int
}

// SessionChange says what to change of a row; nil fields stay.
type SessionChange struct {
	Title      *string // empty takes the title away
	Model      *string
	System     *string
	Tools      *json.RawMessage
	Layers     *[]PromptLayer
	Dir        *string
	Provenance *string
	Archived   *bool
	Pinned     *bool
	// AddUsage is added to the row's usage.
	AddUsage *Usage
	// End closes the session for this reason unless it is closed already;
	// Reopen opens it again.
	End    string
	Reopen bool
}

// StoreStats counts what a store holds. Sizes are in bytes.
type StoreStats struct {
	Sessions, Messages, Calls int
	Usage                     Usage
	TextBytes, FileBytes      int64
	ByPlatform                map[string]int
	Oldest, Newest            time.Time
}

// Transcript is the view of the messages. It only grows: what is taken back
// is marked, not removed.
type Transcript interface {
	// Append stores messages in their order and returns their ids, all or
	// none. It raises the session's counts and times. A lease that another
	// holder has overtaken is ErrStaleLease and nothing is stored.
	Append(ctx context.Context, l Lease, messages ...Message) ([]int64, error)
	// Messages returns the transcript in order, whole or in part.
	Messages(ctx context.Context, session string, r Range) ([]Message, error)
	// Rewind takes back every message from this id on.
	Rewind(ctx context.Context, l Lease, from int64) error
}

// Compactor is the view that keeps a ContextEngine's work.
type Compactor interface {
	// Compact changes what the transcript shows, in one step: hidden messages
	// stay stored, are found by Search and read with Range.Hidden; what is
	// put takes its place in the order and is not found by Search, since it
	// is made from what is. It returns the ids of what was put. A stale lease
	// is ErrStaleLease and changes nothing.
	Compact(ctx context.Context, l Lease, c Compaction) ([]int64, error)
}

// Compaction is a change of what a transcript shows.
type Compaction struct {
	Hide   []int64 // ids
	Insert []Insertion
}

// Insertion is a new message in the place of the message with the id At.
type Insertion struct {
	At      int64
	Message Message
}

// Range picks a part of a transcript; the zero value is all of it.
type Range struct {
	After  int64 // ids greater than this
	Before int64 // ids less than this, if not 0
	Last   int   // only so many, from the end, if not 0
	First  int   // only so many, from the beginning, if not 0
	// Hidden includes messages that were taken back or compacted away.
	Hidden bool
	// Raw is what was said before any compaction: with what was compacted
	// away, and without what took its place.
	Raw bool
}

// Journal remembers which calls of a turn were begun, so that after a crash
// nothing is run twice unknowingly.
type Journal interface {
	// BeginCall is stored before a call runs.
	BeginCall(ctx context.Context, l Lease, c ToolCall) error
	// EndCall stores the call's result as soon as it is known, which may be
	// before it becomes part of the transcript.
	EndCall(ctx context.Context, l Lease, callID string, result Message) error
	// SavePending stores how a call that was begun stands with the person, in
	// place of what was stored of that before. It is stored before the person
	// is asked, and again with the answer.
	SavePending(ctx context.Context, l Lease, callID string, h PendingCall) error
	// OpenSteps returns the steps of calls that no stored message answers.
	OpenSteps(ctx context.Context, session string) ([]Step, error)
}

// Step is a call in the journal.
type Step struct {
	Call  ToolCall
	Begun time.Time
	// Pending is how the call stands with the person.
	Pending PendingCall
	// Result is set if the call ended.
	Result *Message
}

// PendingCall is how a call that has begun stands with the person.
type PendingCall struct {
	// AwaitingApproval says that the call waits for the person's leave: nothing of it has
	// run.
	AwaitingApproval bool `json:"leave,omitempty"`
	// Answers are the questions of an EffectAsk call in their order.
	Answers []AskedQuestion `json:"asked,omitempty"`
}

// AskedQuestion is a question and, once it is there, its answer.
type AskedQuestion struct {
	Question Question `json:"question"`
	Answer   *Answer  `json:"answer,omitempty"`
}

// Open is the question that waits for its answer, nil without one.
func (h PendingCall) Open() *Question {
	if n := len(h.Answers); n > 0 && h.Answers[n-1].Answer == nil {
		return &h.Answers[n-1].Question
	}
	return nil
}

// Leases let one process at a time run a session.
type Leases interface {
	// Acquire gives the session to the owner until the time to live is over,
	// or fails with ErrLeased. An expired lease, or one of the same owner, is
	// taken over with a greater fence.
	Acquire(ctx context.Context, session, owner string, ttl time.Duration) (Lease, error)
	// Renew extends a lease that is still valid, else ErrStaleLease.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)
	// Release ends a lease; an overtaken one is no error.
	Release(ctx context.Context, l Lease) error
}

// Lease is the right to write to a session. Writes carry its fence and are
// refused once another holder has a greater one.
type Lease struct {
	Session string
	Owner   string
	Fence   int64
	Expires time.Time
}

// Search is the view of the full-text index.
type Search interface {
	// Search finds messages by words, phrases and prefixes, and by substring
	// in scripts without word breaks. Any text is a valid query.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
}

// SearchQuery is a search. Zero fields do not narrow.
type SearchQuery struct {
	Text      string
	Session   string
	Platforms []string
	Exclude   []string // sources to leave out
	Roles     []Role
	After     time.Time
	Before    time.Time
	Oldest    bool // oldest first instead of by rank and recency
	Limit     int  // 0 is 20
	Context   int  // messages before and after each hit
}

// Hit is a found message.
type Hit struct {
	Session Session // without System and Tools
	Message Message
	// Snippet is the place found, with >>> and <<< round the words.
	Snippet string
	Before  []Message
	After   []Message
}
