package tui

import (
	"crypto/rand"
	"time"

	"hermes"
	"hermes/internal/protocol"
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
	// eventMsg is an event of the session, or of a child of it.
	eventMsg struct{ protocol.Envelope }
	// noteMsg is a note of the program, such as what the opening session waits for.
	noteMsg string
	// openedMsg reports that a session is open, or why not.
	openedMsg struct {
		id       string
		state    protocol.Snapshot
		last     []hermes.Message // the end of the conversation
		resumed  bool
		foreign  bool
		untitled error // why it did not get its title
		err      error
	}
	// lostMsg says that the session is out of reach, and foundMsg that it no longer is.
	lostMsg  struct{ err error }
	foundMsg struct{ state protocol.Snapshot }
	// goneMsg says that the session is gone for good, and why.
	goneMsg struct{ err error }
	// submittedMsg reports that the session has taken an op, or why not.
	submittedMsg struct {
		op  hermes.Op
		at  int64 // the attachment at which it was sent
		err error
	}
	// namesMsg brings what a word may become.
	namesMsg struct {
		word  string
		names []string
	}
	// ranMsg reports that a slash command has run, or why not. Its outcome is an event.
	ranMsg struct {
		line string
		err  error
	}
)

// The actions: what the model wants done.
type (
	submitDo struct {
		op hermes.Op
		to string // the child session it is for; "" is the session of the chat
	}
	commandDo struct{ line string }
	openDo    struct{ want want }
	copyDo    struct{ text string }
	namesDo   struct{ word string }
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
	unsent    bool      // the input holds what was typed at such a question
	complaint complaint
	height    int
	newKey    func() string // names a message; random
}

func newModel(o Options, width, height int) *model {
	m := &model{renderer: newRenderer(o.Display, width-1, o.Now), input: input.New(o.Start.Run.Workspace.Dir, o.History, o.Skills), height: height, newKey: rand.Text}
	if o.Places != nil {
		m.input.Elsewhere = func() bool { return o.Places.Elsewhere(m.conv.id) }
	}
	m.self = o.From.Client
	return m
}

// cols is the width that the live region may use. One column stays free,
// since terminals differ in what they do at the last one.
func (m *model) cols() int { return max(m.width, 10) }

// moving reports whether something on the screen changes with time.
func (m *model) moving() bool {
	return m.turn.busy || m.leave.asked || m.conv.expects() || !m.conv.opened && len(m.conv.waiting) > 0
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
