package session

import "hermes"

// Op is something to be done with a session. Submit returns when the session
// has taken it, not when it is finished.
type Op interface{ op() }

type (
	// Say is a message of the person. A busy session does with it what its
	// busy mode says, or what Busy says if that is set; one that brings text
	// from outside does not steer but waits.
	Say struct {
		Parts     []hermes.Part
		Busy      Busy
		Synthetic bool // the program speaks, not the person
	}
	// Steer gives the running turn a note; without a turn it is a Say.
	Steer struct{ Text string }
	// Stop interrupts the running turn and forgets what is queued; on demand
	// it also ends the session's background processes.
	Stop struct{ Processes bool }
	// Reply answers what an Asked event asked. Of its fields the one that
	// fits the question counts.
	Reply struct {
		ID       string
		Answer   hermes.Answer
		Decision hermes.Decision
	}
	// Continue goes on with a turn that was cut off, and asks again what was
	// being asked; it is refused when the transcript already ends with an
	// answer. A Say in its place drops the question.
	Continue struct{}
	// Undo takes back the last exchange. It is refused while a turn runs.
	Undo struct{}
	// Retry takes back the last exchange and says its message again.
	Retry struct{}
	// Compress makes the transcript shorter now, keeping what has to do with
	// the topic and the last Keep exchanges. It is refused while a turn runs.
	Compress struct {
		Topic string
		Keep  int
	}
	// Review looks back at the conversation for what is worth keeping, beside
	// the session; a Notice tells what came of it. Without somebody who looks
	// it is ErrNoReview.
	Review struct {
		Focus string // what to look for above all
		Asked bool   // set by the session: the person asks for it
	}
	// SetModel answers from the next turn on with another model, or, Once, the
	// next turn alone.
	SetModel struct {
		Ref  string
		Once bool
	}
	// SetEffort thinks from the next turn on as hard as it says; empty is what
	// is configured.
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

// Busy says what happens to a message that comes while a turn runs.
type Busy string

// The busy modes.
const (
	BusyInterrupt Busy = "interrupt" // end the turn, then answer the message
	BusyQueue     Busy = "queue"     // answer it after the turn
	BusySteer     Busy = "steer"     // hand it to the turn as a note
)
