package tui

import (
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/session"
	"hermes/internal/tui/input"
)

// The messages: what happens to the chat. A key is an input.Key.
type (
	// pasteMsg is text that was pasted.
	pasteMsg string
	// sizeMsg is the size of the terminal, in cells.
	sizeMsg struct{ width, height int }
	// tickMsg comes about ten times a second while something changes.
	tickMsg struct{}
	// eventMsg is an event of the session.
	eventMsg struct{ event hermes.Event }
	// waitingMsg says what the opening session waits for.
	waitingMsg string
	// openedMsg reports that a session is open, or why not.
	openedMsg struct {
		id      string
		state   session.State
		resumed bool
		err     error
	}
	// stateMsg is the state of the session after something changed.
	stateMsg struct{ state session.State }
	// submittedMsg reports that the session has taken an op, or why not.
	submittedMsg struct {
		op  hermes.Op
		err error
	}
	// ranMsg is the result of a slash command.
	ranMsg struct {
		line   string
		result command.Result
		err    error
	}
)

// The actions: what the model wants done.
type (
	submitDo  struct{ op hermes.Op }
	commandDo struct {
		line      string
		confirmed bool
	}
	openDo    struct{ want Want }
	stateDo   struct{}
	copyDo    struct{ text string }
	bellDo    struct{}
	clearDo   struct{}
	redrawDo  struct{}
	suspendDo struct{}
	quitDo    struct{}
)

// model is the whole state of the chat.
type model struct {
	*renderer
	input     input.Line
	conv      conversation
	turn      runningTurn
	leave     leaving
	asks      []*ask    // open questions; the first is shown
	gone      time.Time // when a question closed without an answer from here
	complaint complaint
	height    int
	trusted   bool // destructive commands are not confirmed
}

func newModel(o Options, width, height int) *model {
	return &model{
		renderer: newRenderer(o.Display, width-1, o.Now), input: input.New(o.Dir, o.History, o.Commands.Skills),
		trusted: o.Trusted, height: height,
	}
}

// cols is the width that the live region may use. One column stays free,
// since terminals differ in what they do at the last one.
func (m *model) cols() int { return max(m.width, 10) }

// moving reports whether something on the screen changes with time.
func (m *model) moving() bool {
	return m.turn.busy || m.leave.asked || !m.conv.opened && len(m.conv.waiting) > 0
}

// ask is the question on the screen, or nil.
func (m *model) ask() *ask {
	if len(m.asks) == 0 {
		return nil
	}
	return m.asks[0]
}

// runningTurn is the turn that runs, if one does.
type runningTurn struct {
	busy     bool
	stopping bool // the user has stopped it
	began    time.Time
	spin     int // ticks of the spinner
}

func (t *runningTurn) start(now time.Time) { t.busy, t.stopping, t.began = true, false, now }

func (t *runningTurn) end() { t.busy, t.stopping = false, false }
