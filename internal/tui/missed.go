package tui

import (
	"encoding/json"
	"strings"

	"hermes"
	"hermes/internal/protocol"
)

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
	if s.Mode != "" { // an older process says none
		c.event(hermes.ModeChanged{Mode: s.Mode})
	}
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
		if thought, goesOn := strings.CutPrefix(thinkingOf(m), c.thinking.String()); goesOn && thought != "" && c.text.Len() == 0 {
			c.event(hermes.ReasoningDelta{Text: thought})
		}
		for _, call := range m.Calls {
			call = call.Forwarded()
			c.begin(openCall{CallStarted: hermes.CallStarted{Call: call, Preview: mainArgument(call.Arguments)}, at: m.Time})
		}
		c.event(hermes.Appended{Message: m})
	case hermes.RoleTool:
		if _, ok := c.calls[m.CallID]; ok { // else its end came
			c.result(m)
		}
	}
}

// thinkingOf is what the model thought for a message, as far as it is text.
func thinkingOf(m hermes.Message) string {
	var b strings.Builder
	for _, r := range m.Reasoning {
		b.WriteString(r.Text)
	}
	return b.String()
}

// mainArgument is what tells calls of a tool apart: a stored message has no preview of them.
func mainArgument(arguments string) string {
	var args map[string]any
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return ""
	}
	for _, name := range []string{"command", "path", "pattern", "query", "url", "name"} {
		if text, ok := args[name].(string); ok {
			return text
		}
	}
	return ""
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
