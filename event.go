package hermes

import "time"

// Event is something that happened in a session. Subscribers get events in
// order. The set is closed: frontends switch on the type and ignore what they
// do not show. Only Appended and Compacted change the transcript.
type Event interface{ event() }

// Deltas of the answer that is being written. A subscriber that is too slow
// loses only these.
type (
	// TextDelta is visible text.
	TextDelta struct{ Text string }
	// ReasoningDelta is thinking.
	ReasoningDelta struct{ Text string }
	// CallDeltaSeen reports that the model is writing a call, and how many
	// bytes of arguments it has written so far.
	CallDeltaSeen struct {
		Name  string
		Bytes int
	}
)

// Events of a turn.
type (
	// TurnStarted begins a turn: the user's message is stored.
	TurnStarted struct {
		Turn    int64
		Message Message
	}
	// StepStarted reports that a model call begins.
	StepStarted struct {
		Step  int
		Model string
	}
	// Reset discards the text of the current step: the model starts it again.
	Reset struct{ Reason string }
	// Notice is a short text for the user: what the session waits for, what
	// was tried, or a warning.
	Notice struct {
		Level NoticeLevel
		Text  string
	}
	// CallStarted begins a tool call and CallDone ends it. A call that still
	// waits for the user when its turn ends has no CallDone.
	CallStarted struct {
		Call ToolCall
		// Preview is the main argument, shortened.
		Preview string
	}
	// CallProgress says what a running call is doing. An empty Text clears the
	// last one.
	CallProgress struct {
		CallID string
		Text   string
	}
	// CallDone ends a tool call, whether it succeeded or not.
	CallDone struct {
		Call     ToolCall
		Preview  string
		Result   Message
		Shown    string // what to show the user of it, such as a diff
		Duration time.Duration
		Failed   bool
	}
	// Appended reports that a message is now part of the transcript. The
	// session stores it before the loop goes on.
	Appended struct{ Message Message }
	// Compacted reports that the transcript was shortened. The session stores
	// the change before the loop goes on.
	Compacted struct {
		CompactResult CompactResult
		Note          string
	}
	// UsageUpdated reports the usage of a step and of the turn so far.
	UsageUpdated struct {
		Step, Turn Usage
		Model      string
	}
	// TurnDone ends a turn, whatever its outcome.
	TurnDone struct {
		Turn     int64
		Outcome  Outcome
		Text     string // the final answer, or what to show in its place
		Steps    int
		Usage    Usage
		Duration time.Duration
		Err      error // the failure, for OutcomeFailed
	}
)

// Events of a session.
type (
	// Asked reports that a question or an approval waits for the user. Exactly
	// one of Question and Approval is set.
	Asked struct {
		ID       string
		Question *Question
		Approval *ApprovalRequest
	}
	// AnswerTaken closes the question that Asked opened, answered or not.
	AnswerTaken struct{ ID string }
	// Queued reports how many messages wait for the end of the turn.
	Queued struct{ Waiting int }
	// Steered reports a note that the model gets with the next tool result.
	Steered struct{ Text string }
	// Titled reports the session's new title.
	Titled struct{ Title string }
	// Closed is the last event of a session.
	Closed struct{}
)

// NoticeLevel is the severity of a Notice.
type NoticeLevel string

// The levels of a notice.
const (
	NoticeInfo    NoticeLevel = "info"
	NoticeWaiting NoticeLevel = "waiting"
	NoticeWarning NoticeLevel = "warning"
)

// Outcome says how a turn ended. An interruption is neither failure nor
// success.
type Outcome string

// The outcomes of a turn.
const (
	OutcomeDone         Outcome = "done"
	OutcomeInterrupted  Outcome = "interrupted"
	OutcomeBudget       Outcome = "budget" // the step limit or a spending cap was reached
	OutcomeToolsStopped Outcome = "halted" // the tools were turned off; Text is a summary
	OutcomeFailed       Outcome = "failed"
)

func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (CallDeltaSeen) event()  {}
func (TurnStarted) event()    {}
func (StepStarted) event()    {}
func (Reset) event()          {}
func (Notice) event()         {}
func (CallStarted) event()    {}
func (CallProgress) event()   {}
func (CallDone) event()       {}
func (Appended) event()       {}
func (Compacted) event()      {}
func (UsageUpdated) event()   {}
func (TurnDone) event()       {}
func (Asked) event()          {}
func (AnswerTaken) event()    {}
func (Queued) event()         {}
func (Steered) event()        {}
func (Titled) event()         {}
func (Closed) event()         {}
