package tui

import (
	"strings"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// catchup turns the updates of a watched session into its events, in order. What was missed
// comes as events, too, and what came already does not come again. The zero value knows
// nothing of the session; emit must be set.
type catchup struct {
	emit    func(protocol.Envelope)
	session string
	begun   bool  // a snapshot came
	busy    bool  // a turn runs
	turn    int64 // its number, or that of the last one; 0 if unknown
	// text and thinking are those of the current step, as far as they came.
	text, thinking strings.Builder
	open           []protocol.OpenQuestion
	calls          map[string]openCall // that have not ended, by id
	done           ended               // the last turn that ended
}

// openCall is a call that has not ended as far as events tell.
type openCall struct {
	hermes.CallStarted
	at    time.Time
	shown bool // its CallStarted came
	quiet bool // it began or ended while no events came: its result tells its end
}

// ended is what tells one end of a turn from another.
type ended struct {
	turn    int64
	outcome hermes.Outcome
	took    time.Duration
}

func endOf(d hermes.TurnDone) ended { return ended{d.Turn, d.Outcome, d.Duration} }

// take passes on what an update tells.
func (c *catchup) take(u protocol.Update) {
	switch {
	case u.Envelope != nil:
		c.pass(*u.Envelope)
	case u.Snapshot != nil && !u.Snapshot.Continued:
		c.update(u.Snapshot, u.Missed)
	}
}

// event passes on an event that a snapshot tells.
func (c *catchup) event(e hermes.Event) { c.pass(protocol.Envelope{Session: c.session, Event: e}) }

// pass passes an event on and keeps what it tells.
func (c *catchup) pass(e protocol.Envelope) {
	switch d := e.Event.(type) { // the frequent ones first
	case hermes.TextDelta:
		if e.Parent == "" {
			c.busy = true
			c.text.WriteString(d.Text)
		}
	case hermes.ReasoningDelta:
		if e.Parent == "" {
			c.busy = true
			c.thinking.WriteString(d.Text)
		}
	case hermes.Asked:
		c.open = append(c.open, protocol.OpenQuestion{Session: e.Session, Asked: d})
	case hermes.AnswerTaken:
		c.answered(e.Session, d.ID)
	default:
		if e.Parent == "" {
			c.note(e)
		}
	}
	c.emit(e)
}

// note keeps what an event of the session itself tells.
func (c *catchup) note(e protocol.Envelope) {
	switch d := e.Event.(type) {
	case hermes.TurnStarted:
		c.busy, c.turn = true, d.Turn
		c.step()
	case hermes.StepStarted:
		c.busy = true
		c.step()
	case hermes.Reset:
		c.step()
	case hermes.Appended:
		switch d.Message.Role {
		case hermes.RoleAssistant:
			c.step()
		case hermes.RoleTool:
			if c.calls[d.Message.CallID].quiet {
				c.result(d.Message)
			}
		}
	case hermes.CallStarted:
		c.busy = true
		c.begin(openCall{CallStarted: d, at: e.Time, shown: true})
	case hermes.CallDone:
		delete(c.calls, d.Call.ID)
	case hermes.TurnDone:
		c.busy, c.done, c.calls = false, endOf(d), nil
		c.step()
	}
}

// step forgets the text of a step that is stored, or that the model starts again.
func (c *catchup) step() {
	c.text.Reset()
	c.thinking.Reset()
}

func (c *catchup) begin(call openCall) {
	if c.calls == nil {
		c.calls = map[string]openCall{}
	}
	c.calls[call.Call.ID] = call
}

// answered notes that a question is closed.
func (c *catchup) answered(session, id string) {
	var rest []protocol.OpenQuestion
	for _, q := range c.open {
		if q.Session != session || q.Asked.ID != id {
			rest = append(rest, q)
		}
	}
	c.open = rest
}
