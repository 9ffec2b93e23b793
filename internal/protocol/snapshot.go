package protocol

import (
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// Snapshot is the state of a session at one moment.
type Snapshot struct {
	// Epoch and Seq are the position of the snapshot: the next envelope comes after it.
	Epoch int64 `json:"epoch"`
	Seq   int64 `json:"seq"`
	// Continued says that the frontend has missed nothing that does not follow: all that was
	// after its position comes as envelopes, and the rest of the snapshot is empty.
	Continued bool `json:"continued,omitempty"`

	Session SessionInfo       `json:"session,omitzero"`
	State   State             `json:"state,omitempty"`
	Mode    hermes.RightsMode `json:"mode,omitempty"`
	// Last is the id of the last stored message, 0 if there is none.
	Last int64 `json:"last,omitempty"`
	// Cut says that the last turn was cut off and can be continued; Parked, that it was cut
	// off while a question was open, which Continue asks again.
	Cut    bool `json:"cut,omitempty"`
	Parked bool `json:"parked,omitempty"`
	// Context is the usage of the last answered request: how full the window is.
	Context    hermes.Usage      `json:"context,omitzero"`
	Configured hermes.Configured `json:"configured,omitzero"`

	// Turn is the running turn, or nil.
	Turn *Turn `json:"turn,omitempty"`
	// Done is the outcome of the last turn that ended in this process, or nil.
	Done      *hermes.TurnDone       `json:"done,omitempty"`
	Questions []OpenQuestion         `json:"questions,omitempty"`
	Queue     []hermes.QueuedMessage `json:"queue,omitempty"`
	Children  []Child                `json:"children,omitempty"`
	// Activity is the last sign of life; the zero value if there was none in this process.
	Activity Activity `json:"activity,omitzero"`
	// Frontends are the others that are attached.
	Frontends []hermes.From `json:"frontends,omitempty"`
}

// State says what a session is doing.
type State string

// The states.
const (
	StateIdle    State = "idle"
	StateWorking State = "working" // a turn is prepared or runs
	StateAsking  State = "asking"  // a turn waits for an answer of the user
)

// Activity is a sign of life: what was done last, and when.
type Activity struct {
	At   time.Time `json:"at,omitzero"`
	What string    `json:"what,omitempty"` // such as "terminal: make" or "thinking"
}

// Turn is a running turn.
type Turn struct {
	Number int64          `json:"number"`
	Began  time.Time      `json:"began,omitzero"`
	From   hermes.From    `json:"from,omitzero"`
	Said   hermes.Message `json:"said,omitzero"` // the message that began it; zero if it goes on after a cut
	// Text and Thinking are what the model has written so far in the current step, which is no
	// stored message yet.
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	// Writing is the call that the model is writing.
	Writing hermes.CallDeltaSeen `json:"writing,omitzero"`
	// ModelCalls is how many model calls the turn has begun.
	ModelCalls int `json:"model_calls,omitempty"`
	// Calls are the running tool calls, oldest first.
	Calls []Call       `json:"calls,omitempty"`
	Usage hermes.Usage `json:"usage,omitzero"`
}

// Call is a running tool call.
type Call struct {
	Call     hermes.ToolCall `json:"call"`
	Preview  string          `json:"preview,omitempty"`
	Progress string          `json:"progress,omitempty"` // what it said last
	Began    time.Time       `json:"began"`
}

// OpenQuestion is a question that waits for the user.
type OpenQuestion struct {
	Session string       `json:"session"` // where the reply goes: a child has questions of its own
	Asked   hermes.Asked `json:"asked"`
	// Escalated is when it was offered to all frontends of the user; zero if it was not.
	Escalated time.Time `json:"escalated,omitzero"`
}

// Child is a running child session, or one that a child started. If its Activity is old, it makes
// no progress: what it does changes that, also when it only thinks or writes.
type Child struct {
	ID         string    `json:"id"`
	Parent     string    `json:"parent"` // the session that started it
	Goal       string    `json:"goal,omitempty"`
	Began      time.Time `json:"began,omitzero"`
	ModelCalls int       `json:"model_calls,omitempty"`
	Calls      []Call    `json:"calls,omitempty"`
	Activity   Activity  `json:"activity,omitzero"`
	// Usage is that of its turn, Cost what it has cost, so far.
	Usage hermes.Usage `json:"usage,omitzero"`
	Cost  hermes.Money `json:"cost_micros,omitempty"`
}

// Progress says what the session is doing and for how long, in one line; "" if it is idle.
func (s Snapshot) Progress(now time.Time) string {
	if s.Turn == nil {
		return ""
	}
	var parts []string
	if !s.Turn.Began.IsZero() {
		parts = append(parts, "working for "+text.Age(now.Sub(s.Turn.Began)))
	}
	for _, q := range s.Questions {
		parts = append(parts, "waiting for an answer for "+text.Age(now.Sub(q.Asked.At)))
		break
	}
	for _, c := range s.Turn.Calls {
		parts = append(parts, fmt.Sprintf("%s for %s", c.name(), text.Age(now.Sub(c.Began))))
	}
	if n := s.Turn.ModelCalls; n > 0 {
		parts = append(parts, fmt.Sprintf("model call %d", n))
	}
	if quiet := now.Sub(s.Activity.At); !s.Activity.At.IsZero() && quiet >= time.Minute {
		parts = append(parts, "no progress for "+text.Age(quiet))
	}
	return strings.Join(parts, ", ")
}

// name names a call for the user.
func (c Call) name() string {
	if c.Preview == "" {
		return c.Call.Name
	}
	return c.Call.Name + ": " + c.Preview
}
