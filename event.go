package hermes

import "time"

// Event is something that happened in a session, told in order. The set of
// events is closed: faces switch on the type and ignore what they do not
// show. Only Appended and Compacted change the transcript.
type Event interface{ event() }

// Deltas of the answer that is being written. A subscriber that is too slow
// loses these, and nothing else.
type (
	// TextDelta is visible text.
	TextDelta struct{ Text string }
	// ReasoningDelta is thinking.
	ReasoningDelta struct{ Text string }
	// CallDeltaSeen tells that the model is writing a call, and how many
	// bytes of arguments there are so far.
	CallDeltaSeen struct {
		Name  string
		Bytes int
	}
)

// Events of a turn.
type (
	// TurnStarted begins a turn: the person's message is stored.
	TurnStarted struct {
		Turn    int64
		Message Message
	}
	// StepStarted tells that a model is being asked.
	StepStarted struct {
		Step  int
		Model string
	}
	// Reset takes back the text of the current step: it is written anew.
	Reset struct{ Reason string }
	// Notice is a short text for the person: what is being waited for, what
	// was tried, what was warned of.
	Notice struct {
		Level NoticeLevel
		Text  string
	}
	// CallStarted and CallDone enclose a tool call. One that is left open when
	// its turn ends, since it asks the person, has no CallDone.
	CallStarted struct {
		Call ToolCall
		// Preview is the main argument, shortened.
		Preview string
	}
	CallProgress struct {
		CallID string
		Text   string
	}
	CallDone struct {
		Call     ToolCall
		Preview  string
		Result   Message
		Shown    string // what the person may see of it, such as a diff
		Duration time.Duration
		Failed   bool
	}
	// Appended tells that a message has become part of the transcript. Who
	// receives it from the loop stores it before the loop goes on.
	Appended struct{ Message Message }
	// Compacted tells that the transcript was made shorter. Who receives it
	// from the loop stores the change before the loop goes on.
	Compacted struct {
		CompactResult CompactResult
		Note          string
	}
	// UsageUpdated tells what a step cost, and what the turn has cost so far.
	UsageUpdated struct {
		Step, Turn Usage
		Model      string
	}
	// TurnDone ends a turn, whatever came.
	TurnDone struct {
		Turn     int64
		Outcome  Outcome
		Text     string // the final answer, or what is to be said in its place
		Steps    int
		Usage    Usage
		Duration time.Duration
		Err      error // the failure, for OutcomeFailed
	}
)

// Events of a session.
type (
	// Asked shows that a question or an approval waits for the person.
	Asked struct {
		ID       string
		Question *Question
		Approval *ApprovalRequest
	}
	// AnswerTaken closes what Asked opened, also when nobody answered.
	AnswerTaken struct{ ID string }
	// Queued tells how many messages wait for the end of the turn.
	Queued struct{ Waiting int }
	// Steered shows a note that goes to the model under the next result.
	Steered struct{ Text string }
	// Titled tells the session's new title.
	Titled struct{ Title string }
	// Closed is the last event of a session.
	Closed struct{}
)

// NoticeLevel grades a Notice.
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
	OutcomeBudget       Outcome = "budget" // the steps were used up; Text sums up
	OutcomeToolsStopped Outcome = "halted" // tools led nowhere; Text sums up
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
