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

// update passes on what happened until a snapshot.
func (c *catchup) update(s *protocol.Snapshot, missed []hermes.Message) {
	c.session = s.Session.ID
	for _, m := range missed {
		c.missed(m, s)
	}
	c.turnOf(s)
	c.questionsOf(s)
	if c.begun || len(s.Queue) > 0 { // what the user typed before waits, too
		c.event(hermes.Queued{Messages: s.Queue})
	}
	c.event(s.Configured)
	c.event(hermes.Titled{Title: s.Session.Title})
	c.begun = true
}

// missed passes on what a stored message tells.
func (c *catchup) missed(m hermes.Message, s *protocol.Snapshot) {
	if c.busy && c.turn != 0 && m.Turn > c.turn {
		c.end(s)
	}
	switch m.Role {
	case hermes.RoleUser:
		if c.busy && m.Turn == c.turn { // below a result, for the model
			return
		}
		started := hermes.TurnStarted{Turn: m.Turn, Message: m}
		if s.Turn != nil && s.Turn.Said.ID == m.ID {
			started.From = s.Turn.From
		}
		c.event(started)
	case hermes.RoleAssistant:
		c.busy, c.turn = true, m.Turn
		for _, call := range m.Calls {
			c.begin(openCall{CallStarted: hermes.CallStarted{Call: call}, at: m.Time})
		}
		c.event(hermes.Appended{Message: m})
	case hermes.RoleTool:
		if _, ok := c.calls[m.CallID]; ok { // else its end came
			c.result(m)
		}
	}
}

// result passes on the end of a call, of which only the result is known.
func (c *catchup) result(m hermes.Message) {
	call := c.calls[m.CallID]
	done := hermes.CallDone{Call: call.Call, Preview: call.Preview, Result: m, Failed: m.Failed}
	if !call.at.IsZero() && m.Time.After(call.at) {
		done.Duration = m.Time.Sub(call.at)
	}
	c.event(done)
}

// end passes on the end of the running turn.
func (c *catchup) end(s *protocol.Snapshot) {
	switch {
	case s.Done == nil: // its process has ended
		c.event(hermes.TurnDone{Turn: c.turn, Outcome: hermes.OutcomeInterrupted})
	case s.Turn == nil && c.turn == 0, s.Done.Turn == c.turn:
		c.event(*s.Done)
	default: // how it ended is no longer known
		c.event(hermes.TurnDone{Turn: c.turn, Outcome: hermes.OutcomeDone})
	}
}

// turnOf passes on what a snapshot tells of the running turn, or of its end.
func (c *catchup) turnOf(s *protocol.Snapshot) {
	t := s.Turn
	switch {
	case c.busy && (t == nil || t.Number != 0 && c.turn != 0 && t.Number != c.turn):
		c.end(s)
	case t == nil && s.Done != nil && c.begun && endOf(*s.Done) != c.done: // it began and ended meanwhile
		c.event(*s.Done)
	}
	if s.Done != nil {
		c.done = endOf(*s.Done)
	}
	if t == nil {
		return
	}
	if !c.busy {
		c.event(hermes.StepStarted{Step: t.ModelCalls, Model: s.Configured.Model})
	}
	c.turn = max(c.turn, t.Number)
	if s.Configured.Model != "" {
		c.event(hermes.UsageUpdated{Step: s.Context, Turn: t.Usage, Model: s.Configured.Model})
	}
	c.callsOf(t)
	c.textOf(t)
}

// callsOf passes on which calls run.
func (c *catchup) callsOf(t *protocol.Turn) {
	for id, call := range c.calls {
		call.quiet = true
		c.calls[id] = call
	}
	for _, now := range t.Calls {
		call := c.calls[now.Call.ID]
		call.quiet = false
		if !call.shown {
			c.event(hermes.CallStarted{Call: now.Call, Preview: now.Preview})
			call = c.calls[now.Call.ID]
			call.at = now.Began
		}
		c.begin(call)
		if now.Progress != "" {
			c.event(hermes.CallProgress{CallID: now.Call.ID, Text: now.Progress})
		}
	}
}

// textOf passes on the text of the running step that has not come yet.
func (c *catchup) textOf(t *protocol.Turn) {
	rest, goesOn := strings.CutPrefix(t.Text, c.text.String())
	if !goesOn {
		c.event(hermes.Reset{})
		rest = t.Text
	}
	if thought := strings.TrimPrefix(t.Thinking, c.thinking.String()); thought != "" && c.text.Len() == 0 {
		c.event(hermes.ReasoningDelta{Text: thought})
	}
	if rest != "" {
		c.event(hermes.TextDelta{Text: rest})
	}
	if t.Writing.Name != "" {
		c.event(t.Writing)
	}
}

// questionsOf opens and closes questions as a snapshot says, also those of children.
func (c *catchup) questionsOf(s *protocol.Snapshot) {
	above := func(session string, e hermes.Event) protocol.Envelope {
		env := protocol.Envelope{Session: session, Event: e}
		if session != s.Session.ID {
			env.Parent = s.Session.ID
		}
		return env
	}
	for _, child := range s.Children {
		c.pass(above(child.ID, hermes.TurnStarted{Message: hermes.UserText(child.Goal)}))
	}
	has := func(list []protocol.OpenQuestion, q protocol.OpenQuestion) bool {
		for _, x := range list {
			if x.Session == q.Session && x.Asked.ID == q.Asked.ID {
				return true
			}
		}
		return false
	}
	before := c.open
	for _, q := range before {
		if !has(s.Questions, q) {
			c.pass(above(q.Session, hermes.AnswerTaken{ID: q.Asked.ID}))
		}
	}
	for _, q := range s.Questions {
		if !has(before, q) {
			c.pass(above(q.Session, q.Asked))
		}
	}
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
