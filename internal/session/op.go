package session

import "hermes"

// Op is a request to a session. Submit returns when the session has accepted
// it, not when it is done.
type Op interface{ op() }

type (
	// Say is a message of the user. If a turn runs, Busy decides what happens,
	// or the session's busy mode if Busy is empty. A message with untrusted
	// text never steers: it waits. What waits is stored before Submit returns.
	// If no turn runs, the user's messages that wait since an earlier process
	// go before this one, in the same turn.
	Say struct {
		Parts     []hermes.Part
		Busy      Busy
		Synthetic bool // from the program, not the user
	}
	// Steer adds a note to the running turn; without a turn it is a Say.
	Steer struct{ Text string }
	// Stop interrupts the running turn and drops all that waits: the queue and
	// the notes. If Processes is set, it also ends the session's background processes.
	Stop struct{ Processes bool }
	// Reply answers the question of an Asked event: with Answer if that has a
	// Question, with Approval if it has one.
	Reply struct {
		ID       string
		Answer   hermes.Answer
		Approval hermes.ApprovalAnswer
	}
	// Continue resumes a turn that was cut off and asks its open question
	// again. A Say instead drops the question. If the transcript ends with an
	// answer, Continue answers what waits since an earlier process; if nothing
	// does, it is refused.
	Continue struct{}
	// Undo removes the last exchange from the transcript. It is refused while a
	// turn runs.
	Undo struct{}
	// Retry undoes the last exchange and sends its message again. It is refused
	// while a turn runs.
	Retry struct{}
	// Compress shortens the transcript now. It keeps what relates to the topic
	// and the last Keep exchanges. It is refused while a turn runs.
	Compress struct {
		Topic string
		Keep  int
	}
	// Review starts a background review of the conversation; a Notice reports
	// its result. If the runtime has no review, the error is ErrNoReview.
	Review struct {
		Focus string // what to look for first
	}
	// SetModel changes the model from the next turn on, or, if Once is set, for
	// the next turn only.
	SetModel struct {
		Ref  string
		Once bool
	}
	// SetEffort changes the effort from the next turn on; empty means the
	// configured one.
	SetEffort struct{ Effort hermes.Effort }
	// SetTitle renames the session.
	SetTitle struct{ Title string }
)

func (Say) op()       {}
func (Steer) op()     {}
func (Stop) op()      {}
func (Reply) op()     {}
func (Continue) op()  {}
func (Undo) op()      {}
func (Retry) op()     {}
func (Compress) op()  {}
func (Review) op()    {}
func (SetModel) op()  {}
func (SetEffort) op() {}
func (SetTitle) op()  {}

// Busy says what happens to a message that arrives while a turn runs.
type Busy string

// The busy modes.
const (
	BusyInterrupt Busy = "interrupt" // end the turn, then answer the message
	BusyQueue     Busy = "queue"     // answer it after the turn
	BusySteer     Busy = "steer"     // add it to the turn as a note
)
