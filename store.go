package hermes

import (
	"context"
	"encoding/json"
	"time"
)

// Store stores sessions. Every call names its session: there is no current
// one. All methods may be called concurrently and return when their change is
// committed; after an error nothing has changed. If something does not exist,
// the error wraps ErrNotFound.
type Store interface {
	Sessions
	Transcript
	Waiting
	Compactor
	Journal
	Questions
	Leases
	Search
	// Close waits for writes under way and frees the database.
	Close() error
}

// Sessions is the part of a [Store] for session rows.
type Sessions interface {
	// CreateSession stores a new row; ID and Started must be set. If another
	// session has the title, in any case, the error is ErrTitleTaken.
	CreateSession(ctx context.Context, s Session) error
	// FindSession finds a session by its id, a unique prefix of the id, or its
	// title, in any case. For numbered titles ("x #2"), "x" finds the newest. If several
	// sessions match, the error is ErrAmbiguous.
	FindSession(ctx context.Context, ref string) (Session, error)
	// ListSessions returns rows, last active first, without System and Tools.
	ListSessions(ctx context.Context, f SessionFilter) ([]Session, error)
	// UpdateSession changes the fields that are set in c.
	UpdateSession(ctx context.Context, id string, c SessionChange) error
	// DeleteSession deletes a session with its messages and questions. Its
	// children are kept without a parent.
	DeleteSession(ctx context.Context, id string) error
	// Stats counts the contents of the store.
	Stats(ctx context.Context) (StoreStats, error)
}

// SessionFilter narrows a list; zero fields do not narrow.
type SessionFilter struct {
	Platform string
	Exclude  []string // platforms to skip
	Dir      string
	Title    string // substring, any case
	Parent   string
	Before   time.Time // last active before
	After    time.Time // last active at or after
	Ended    *bool
	Archived bool // include archived ones
	NonEmpty bool // only those with messages
	Limit    int  // 0 means 20, negative means all
	Offset   int
}

// SessionChange says what to change in a row; nil fields do not change.
type SessionChange struct {
	Title      *string // empty removes the title
	Model      *string
	System     *string
	Tools      *json.RawMessage
	Layers     *[]PromptLayer
	Dir        *string
	Provenance *string
	Run        *StoredRun
	Archived   *bool
	Pinned     *bool
	// TaskEnded and TaskFailure say how a child session ended. Nothing else of its run changes.
	TaskEnded   ChildStatus
	TaskFailure string
	// End closes the session with this reason, unless it is closed already.
	// Reopen opens it again.
	End    string
	Reopen bool
}

// StoreStats counts the contents of a store. Sizes are in bytes.
type StoreStats struct {
	Sessions, Messages, Calls int
	Usage                     Usage
	TextBytes, FileBytes      int64
	ByPlatform                map[string]int
	Oldest, Newest            time.Time
}

// Transcript is the part of a [Store] for messages. A transcript only grows:
// undone messages are marked, not removed.
type Transcript interface {
	// Commit stores a change, all of it or nothing, and returns the ids of the
	// appended messages. It updates the session's counts and times. If another
	// process took the session over, the error is ErrStaleLease.
	Commit(ctx context.Context, l Lease, c Change) (Committed, error)
	// Messages returns the transcript, or a part of it, in order.
	Messages(ctx context.Context, session string, r Range) ([]Message, error)
	// Rewind undoes every message from this id on; 0 undoes none. Then the messages with the
	// ids of back, which were undone before, are part of the transcript again. If one of them
	// is no undone message of the session, the error wraps ErrNotFound and nothing changes.
	Rewind(ctx context.Context, l Lease, from int64, back ...int64) error
}

// Change is a change of a session that a turn makes. Zero fields change nothing.
type Change struct {
	// TakeWaiting are the ids of waiting messages that Append takes into the
	// transcript. If one of them does not wait any more, the error wraps
	// ErrNotFound, so that no message is taken twice.
	TakeWaiting []int64
	// Append are new messages, in order. A message without a time gets the
	// current one. A tool message ends its call in the [Journal].
	Append []Message
	// EndCalls are the ids of calls that leave the Journal without a message.
	// Ending a call also ends those that it invoked, whose ids begin with its
	// own and a slash.
	EndCalls []string
	// Usage is added to the usage of the session's row.
	Usage Usage
}

// Committed is what [Transcript.Commit] stored.
type Committed struct {
	IDs []int64 // of the appended messages, in order
}

// Waiting is the part of a [Store] for messages that wait for the end of a
// turn. They survive the process; a [Change] takes them into the transcript.
type Waiting interface {
	// AddWaiting stores a message and returns its id, which no other waiting
	// message ever has. The ID of m is ignored.
	AddWaiting(ctx context.Context, l Lease, m WaitingMessage) (int64, error)
	// WaitingMessages returns what waits, in the order in which to answer it:
	// urgent messages first, of which the newest first, then the others in the
	// order in which they came.
	WaitingMessages(ctx context.Context, session string) ([]WaitingMessage, error)
	// DropWaiting deletes waiting messages. Ids that do not wait are ignored.
	DropWaiting(ctx context.Context, l Lease, ids ...int64) error
}

// WaitingMessage is a message that waits for the end of a turn.
type WaitingMessage struct {
	ID      int64
	Message Message
	// Urgent messages interrupted the turn and come before all others.
	Urgent bool
}

// Compactor is the part of a [Store] that saves changes of a ContextEngine.
type Compactor interface {
	// Compact hides messages and inserts others, atomically. Hidden messages
	// stay stored: Search finds them and Range.Hidden reads them. Search does
	// not find inserted messages, because they are made from stored ones. It
	// returns the ids of the inserted messages. With a stale lease the error is
	// ErrStaleLease.
	Compact(ctx context.Context, l Lease, c Compaction) ([]int64, error)
}

// Compaction is a change of a transcript by a ContextEngine.
type Compaction struct {
	Hide   []int64 // ids
	Insert []Insertion
}

// Insertion is a new message at the position of the message with the id At.
type Insertion struct {
	At      int64
	Message Message
}

// Range selects a part of a transcript; the zero value selects all of it.
type Range struct {
	After  int64 `json:"after,omitempty"`  // ids greater than this
	Before int64 `json:"before,omitempty"` // ids less than this, if not 0
	Last   int   `json:"last,omitempty"`   // only this many from the end, if not 0
	First  int   `json:"first,omitempty"`  // only this many from the beginning, if not 0; Last then counts from their end
	// Hidden includes messages that were undone or hidden by a compaction.
	Hidden bool `json:"hidden,omitempty"`
	// Raw selects the original transcript: with the messages that compactions
	// hid, without those that they inserted.
	Raw bool `json:"raw,omitempty"`
}

// Journal records the calls that a turn has begun, so that no call runs twice
// unnoticed after a crash.
type Journal interface {
	// BeginCall records that a call begins. It is called before the call runs.
	BeginCall(ctx context.Context, l Lease, c ToolCall) error
	// EndCall stores the call's result as soon as it is known, possibly before
	// it becomes part of the transcript.
	EndCall(ctx context.Context, l Lease, callID string, result Message) error
	// SavePending stores what a begun call waits for and replaces what was
	// stored before. It is called before the user is asked and again with the
	// answer.
	SavePending(ctx context.Context, l Lease, callID string, h PendingCall) error
	// OpenSteps returns the begun calls that no stored message answers.
	OpenSteps(ctx context.Context, session string) ([]Step, error)
}

// Step is a call in the journal.
type Step struct {
	Call  ToolCall
	Begun time.Time
	// Pending is what the call waits for from the user.
	Pending PendingCall
	// Result is set if the call ended.
	Result *Message
}

// PendingCall says what a begun call waits for from the user. The zero value
// waits for nothing.
type PendingCall struct {
	// AwaitingApproval says that the call waits for the user's approval:
	// nothing of it has run yet.
	AwaitingApproval bool `json:"leave,omitempty"`
	// Answers are the questions of an EffectAsk call in order, with the
	// answers given so far.
	Answers []AskedQuestion `json:"asked,omitempty"`
}

// AskedQuestion is a question and its answer; Answer is nil while it is open.
type AskedQuestion struct {
	Question Question `json:"question"`
	Answer   *Answer  `json:"answer,omitempty"`
}

// Open returns the question that waits for an answer, or nil.
func (h PendingCall) Open() *Question {
	if n := len(h.Answers); n > 0 && h.Answers[n-1].Answer == nil {
		return &h.Answers[n-1].Question
	}
	return nil
}

// Questions is the part of a [Store] for what sessions ask the user, so that
// other processes see what waits for an answer, and later ones who answered.
type Questions interface {
	// SaveQuestion stores a question, or replaces the stored one with the same
	// session and id. A closed one does not change any more: the error is
	// [ErrAnswered] if it was answered, else it wraps ErrNotFound.
	SaveQuestion(ctx context.Context, l Lease, q StoredQuestion) error
	// CloseQuestions closes all open questions of the lease's session without an
	// answer. Whoever takes a session over closes what the process before it
	// asked.
	CloseQuestions(ctx context.Context, l Lease) error
	// FindQuestion returns a question, open or closed.
	FindQuestion(ctx context.Context, session, id string) (StoredQuestion, error)
	// OpenQuestions returns the questions that are not closed, and those that the
	// filter adds, oldest first. The process that asked may have ended; see [Leases].
	OpenQuestions(ctx context.Context, f QuestionFilter) ([]StoredQuestion, error)
}

// StoredQuestion is a question or approval that a session asked.
type StoredQuestion struct {
	Session string
	// Asked has a Detail only while the question is open: afterwards the
	// transcript has it.
	Asked Asked
	// Escalated is when the question was offered to all frontends of the user;
	// zero if it was not.
	Escalated time.Time
	// Closed is when the question was answered or its time was over; zero while
	// it is open.
	Closed time.Time
	// Answered says that the user answered with Reply through the frontend By.
	// The Answer to a question that is secret is not stored.
	Answered bool
	Reply    Reply
	By       From
}

// Storable returns the question without what a [Store] must not keep.
func (q StoredQuestion) Storable() StoredQuestion {
	if q.Asked.Question != nil && q.Asked.Question.Secret {
		q.Reply.Answer = Answer{}
	}
	if a := q.Asked.Approval; a != nil && !q.Closed.IsZero() {
		short := *a
		short.Detail = ""
		q.Asked.Approval = &short
	}
	return q
}

// QuestionFilter narrows a list of questions; zero fields do not narrow.
type QuestionFilter struct {
	Session   string
	Escalated bool // only those that were escalated
	// ClosedSince, unless it is zero, adds those that were closed at that time or
	// later, of the newest [NewestQuestions] that were asked.
	ClosedSince time.Time
}

// NewestQuestions bounds how far [QuestionFilter.ClosedSince] looks back.
const NewestQuestions = 1_000

// Leases is the part of a [Store] that lets only one process at a time run a
// session.
type Leases interface {
	// Acquire gives the session to the owner for ttl, or returns ErrLeased. An
	// expired lease, one of an owner that has ended, or one of the same owner, is
	// replaced by one with a greater fence.
	Acquire(ctx context.Context, session string, owner Owner, ttl time.Duration) (Lease, error)
	// Renew extends a valid lease, or returns ErrStaleLease.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)
	// Release ends a lease. Releasing a stale one is not an error.
	Release(ctx context.Context, l Lease) error
	// Leases returns all leases that have not expired, by session, without those
	// of owners that are known to have ended.
	Leases(ctx context.Context) ([]Lease, error)
}

// Owner is a process as the owner of leases.
type Owner struct {
	Name string // unique among all processes
	// Address is where the process listens for frontends, "" if it does not.
	Address string
}

// Lease is the right to write to a session. Writes carry its fence and are
// refused once another lease has a greater one.
type Lease struct {
	Session string
	Owner   string
	Address string // where the owner listens, "" if it does not
	Fence   int64
	Expires time.Time
	// Replaced is the other owner that had the session and did not release it,
	// as far as Acquire found one: it may have left its address behind.
	Replaced Owner
}

// Search is the part of a [Store] for full-text search.
type Search interface {
	// Search finds messages by words, phrases and prefixes, and by substring
	// in scripts without spaces between words. Any text is a valid query.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
}

// SearchQuery is a search. Zero fields do not narrow.
type SearchQuery struct {
	Text      string
	Session   string
	Platforms []string
	Exclude   []string // platforms to skip
	Roles     []Role
	After     time.Time
	Before    time.Time
	Oldest    bool // oldest first instead of by rank and recency
	Newest    bool // newest first instead; Oldest wins over it
	// Lineages returns only the first hit of each lineage: the sessions that began
	// with the same one by branching, continuing or as its children.
	Lineages bool
	// Asking is a session whose lineage comes after all others, in every order.
	// It needs Lineages. A session that does not exist has no lineage.
	Asking  string
	Limit   int // 0 means 20
	Context int // messages before and after each hit
}

// Hit is a found message.
type Hit struct {
	Session Session // without System and Tools
	Message Message
	// Snippet is the text around the match, with >>> and <<< around the words.
	Snippet string
	Before  []Message
	After   []Message
}

// Activity is implemented by stores that can report what happened in a period.
type Activity interface {
	// Activity sums up what happened at or after since; an empty source means
	// all platforms.
	Activity(ctx context.Context, since time.Time, source string) (Active, error)
}

// Active is what happened in a period, and nothing that happened before it in the
// same sessions. Messages, Calls and Turns include what compactions have hidden,
// but not what was undone; Usage is what was paid for, side tasks too.
type Active struct {
	Sessions, Messages, Calls int
	Turns                     int64
	Usage                     Usage
	ByPlatform                map[string]int // sessions
	ByModel                   map[string]ModelActivity
	Tools                     []ToolActivity // most used first
}

// ModelActivity is the usage of one model, and the number of sessions that have it
// as theirs.
type ModelActivity struct {
	Sessions int
	Usage    Usage
}

// ToolActivity counts the calls of one tool.
type ToolActivity struct {
	Name          string
	Calls, Failed int
}
