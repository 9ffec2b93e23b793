package hermes

import "time"

// Event is something that happened in a session. Subscribers get events in
// order. The set is closed: frontends switch on the type and ignore what they
// do not show. Only Appended, Compacted and Rewound change the transcript.
type Event interface{ event() }

// Deltas of the answer that is being written.
type (
	// TextDelta is visible text.
	TextDelta struct {
		Text string `json:"text"`
	}
	// ReasoningDelta is thinking.
	ReasoningDelta struct {
		Text string `json:"text"`
	}
	// CallDeltaSeen reports that the model is writing a call, and how many
	// bytes of arguments it has written so far.
	CallDeltaSeen struct {
		Name  string `json:"name"`
		Bytes int    `json:"bytes"`
	}
)

// Events of a turn.
type (
	// TurnStarted begins a turn: the user's message is stored. From is the zero value if
	// the program sent it or an earlier process took it.
	TurnStarted struct {
		Turn    int64   `json:"turn"`
		Message Message `json:"message"`
		From    From    `json:"from,omitzero"`
	}
	// StepStarted reports that a model call begins.
	StepStarted struct {
		Step  int    `json:"step"`
		Model string `json:"model"`
	}
	// Reset discards the text of the current step: the model starts it again.
	Reset struct {
		Reason string `json:"reason,omitempty"`
	}
	// Notice is a short text for the user: what the session waits for, what
	// was tried, or a warning.
	Notice struct {
		Level NoticeLevel `json:"level"`
		Text  string      `json:"text"`
	}
	// CallStarted begins a tool call and CallDone ends it. A call that still
	// waits for the user when its turn ends has no CallDone. A call of [ForwardTool] is shown as
	// the call that it makes; the transcript has what the model wrote, under the same id.
	CallStarted struct {
		Call ToolCall `json:"call"`
		// Preview is the main argument, shortened.
		Preview string `json:"preview,omitempty"`
	}
	// CallProgress says what a running call is doing. An empty Text clears the
	// last one.
	CallProgress struct {
		CallID string `json:"call_id"`
		Text   string `json:"text"`
	}
	// CallDone ends a tool call, whether it succeeded or not.
	CallDone struct {
		Call     ToolCall      `json:"call"`
		Preview  string        `json:"preview,omitempty"`
		Result   Message       `json:"result"`
		Shown    string        `json:"shown,omitempty"` // what to show the user of it, such as a diff
		Duration time.Duration `json:"duration_ns"`
		Failed   bool          `json:"failed,omitempty"`
	}
	// Appended reports that a message is now part of the transcript. The
	// session stores it before the loop goes on.
	Appended struct {
		Message Message `json:"message"`
	}
	// Compacted reports that the transcript was shortened. The session stores
	// the change before the loop goes on.
	Compacted struct {
		CompactResult CompactResult `json:"-"` // for the session only; frontends get none
		Note          string        `json:"note,omitempty"`
	}
	// UsageUpdated reports the usage of a step and of the turn so far.
	UsageUpdated struct {
		Step  Usage  `json:"step"`
		Turn  Usage  `json:"turn"`
		Model string `json:"model"`
		// Cost is what a child session has cost so far; 0 in other sessions.
		Cost Money `json:"cost_micros,omitempty"`
	}
	// TurnDone ends a turn, whatever its outcome.
	TurnDone struct {
		Turn     int64         `json:"turn"`
		Outcome  Outcome       `json:"outcome"`
		Text     string        `json:"text,omitempty"` // the final answer, or what to show in its place
		Steps    int           `json:"steps"`
		Usage    Usage         `json:"usage"`
		Duration time.Duration `json:"duration_ns"`
		Failure  *Failure      `json:"failure,omitempty"` // for OutcomeFailed
		// Unconfirmed is what the answer says was done, although no call supports it.
		Unconfirmed []Unconfirmed `json:"unconfirmed,omitempty"`
	}
	// Unconfirmed is a claim of an answer that no call supports.
	Unconfirmed struct {
		Class string `json:"class"` // sent, saved, edited, deleted, ran, passed, committed, pushed or scheduled
		Quote string `json:"quote"` // the words, as they are in the answer
		Why   string `json:"why"`   // what is missing, for the user
	}
)

// Err returns the failure of the turn as an error, or nil.
func (d TurnDone) Err() error {
	if d.Failure == nil {
		return nil
	}
	return d.Failure
}

// Events of a session.
type (
	// Asked reports that a question or an approval waits for the user. Exactly
	// one of Question and Approval is set. The ID is unique among all that the session
	// ever asked.
	Asked struct {
		ID       string           `json:"id"`
		At       time.Time        `json:"at,omitzero"`
		Question *Question        `json:"question,omitempty"`
		Approval *ApprovalRequest `json:"approval,omitempty"`
	}
	// AnswerTaken closes the question that Asked opened. Without an answer, because its
	// time is over or its turn has ended, Answered is false and By is the zero value. It
	// never has the text of an answer.
	AnswerTaken struct {
		ID       string   `json:"id"`
		Answered bool     `json:"answered,omitempty"`
		By       From     `json:"by,omitzero"`
		Decision Decision `json:"decision,omitempty"` // of an approval
	}
	// Escalated reports that no user of an attached frontend has begun to answer a question
	// for some time, so that it is offered to all frontends of the user. Its time starts again.
	Escalated struct {
		ID string `json:"id"`
	}
	// Queued reports which messages wait for the end of the turn, first to be answered
	// first.
	Queued struct {
		Messages []QueuedMessage `json:"messages,omitempty"`
	}
	// Steered reports a note that the model gets with the next tool result.
	Steered struct {
		Text string `json:"text"`
	}
	// Rewound reports that the message with this id and all after it were undone; 0 means no message.
	// Then the messages with the ids of Back, which were undone before, are part of the
	// transcript again, at its end.
	Rewound struct {
		ID   int64   `json:"id"`
		Back []int64 `json:"back,omitempty"`
	}
	// Titled reports the session's new title.
	Titled struct {
		Title string `json:"title"`
	}
	// Configured reports the model of the session and what depends on it, when that has
	// changed.
	Configured struct {
		Model string `json:"model,omitempty"`
		// Next is the model of the next turn, if that is another one.
		Next   string `json:"next,omitempty"`
		Effort Effort `json:"effort,omitempty"` // empty means the model's default
		Window int    `json:"window,omitempty"` // in tokens, 0 if unknown
	}
	// ModeChanged reports how risky calls are treated from now on. By is who changed it; the
	// zero value in a child session, whose parent's mode was changed.
	ModeChanged struct {
		Mode RightsMode `json:"mode"`
		By   From       `json:"by,omitzero"`
	}
	// CommandDone is the outcome of a slash command.
	CommandDone struct {
		Line string `json:"line"`
		From From   `json:"from"`
		Text string `json:"text,omitempty"` // Markdown
		// Action is what the frontend that sent the command has to do, and Arg what that
		// needs.
		Action CommandAction `json:"action,omitempty"`
		Arg    string        `json:"arg,omitempty"`
		// Confirm is a question. If the user says yes, the frontend sends ConfirmLine.
		// Nothing has been done yet.
		Confirm     string   `json:"confirm,omitempty"`
		ConfirmLine string   `json:"confirm_line,omitempty"`
		Failure     *Failure `json:"failure,omitempty"`
	}
	// Lagged is the last event of a subscriber that was too slow: some events are lost to
	// it. Attaching again brings it up to date.
	Lagged struct{}
	// Closed is the last event of a session.
	Closed struct{}
)

// QueuedMessage is a message that waits for the end of the turn.
type QueuedMessage struct {
	Text string `json:"text"`
	From From   `json:"from,omitzero"` // the zero value if an earlier process took it
}

// CommandAction is what a frontend has to do after a slash command.
type CommandAction string

// The actions; empty is nothing.
const (
	ActionQuit     CommandAction = "quit"     // quit the program
	ActionNew      CommandAction = "new"      // start a new session, titled Arg unless it is empty
	ActionClear    CommandAction = "clear"    // clear the screen and start a new session
	ActionSwitch   CommandAction = "switch"   // switch to the session with the id Arg
	ActionCopy     CommandAction = "copy"     // copy Arg to the clipboard
	ActionRedraw   CommandAction = "redraw"   // redraw the screen
	ActionThinking CommandAction = "thinking" // show the model's thinking where Arg is "show", else hide it
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
func (Escalated) event()      {}
func (Queued) event()         {}
func (Steered) event()        {}
func (Rewound) event()        {}
func (Titled) event()         {}
func (Configured) event()     {}
func (ModeChanged) event()    {}
func (CommandDone) event()    {}
func (Lagged) event()         {}
func (Closed) event()         {}
