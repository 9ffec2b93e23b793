package protocol

import (
	"slices"
	"strings"
	"time"

	"hermes"
)

// View is the part of a session's state that its events tell. Whoever applies each envelope
// in order has at any time what a snapshot of that moment has. The zero value is a session
// at rest. It is not safe for concurrent use.
type View struct {
	last      int64
	turn      *Turn
	done      *hermes.TurnDone
	text      strings.Builder
	thinking  strings.Builder
	questions []OpenQuestion
	queue     []hermes.QueuedMessage
	children  []Child
	activity  Activity
}

// Fill sets the fields of a snapshot that the view knows. They share nothing with it.
func (v *View) Fill(s *Snapshot) {
	s.Last = max(s.Last, v.last)
	s.Activity, s.Done = v.activity, v.done
	s.Questions, s.Queue = slices.Clone(v.questions), slices.Clone(v.queue)
	s.Children = slices.Clone(v.children)
	for i := range s.Children {
		s.Children[i].Calls = slices.Clone(s.Children[i].Calls)
	}
	if s.Turn = nil; v.turn != nil {
		t := *v.turn
		t.Text, t.Thinking, t.Calls = v.text.String(), v.thinking.String(), slices.Clone(t.Calls)
		s.Turn = &t
	}
	switch {
	case len(s.Questions) > 0:
		s.State = StateAsking
	case s.Turn != nil:
		s.State = StateWorking
	default:
		s.State = StateIdle
	}
}

// Apply takes the next envelope.
func (v *View) Apply(e Envelope) {
	switch d := e.Event.(type) { // the frequent ones first
	case hermes.TextDelta:
		if e.Parent == "" {
			v.text.WriteString(d.Text)
			v.activity = Activity{e.Time, "writing"}
			return
		}
	case hermes.ReasoningDelta:
		if e.Parent == "" {
			v.thinking.WriteString(d.Text)
			v.activity = Activity{e.Time, "thinking"}
			return
		}
	}
	_, escalated := e.Event.(hermes.Escalated) // no sign of life
	switch asked := v.question(e); {
	case e.Parent != "" && !escalated:
		v.child(e)
		return
	case asked:
		return
	}
	switch d := e.Event.(type) {
	case hermes.TurnStarted:
		v.begin(e.Time, d.Turn)
		v.turn.From, v.turn.Said = d.From, d.Message
		v.last = max(v.last, d.Message.ID)
	case hermes.StepStarted:
		v.begin(e.Time, 0) // a continued turn has no TurnStarted
		v.turn.ModelCalls++
		v.activity = Activity{e.Time, "waiting for the model"}
		v.step()
	case hermes.Reset:
		v.step()
	case hermes.CallDeltaSeen:
		if v.turn != nil {
			v.turn.Writing = d
		}
		v.activity = Activity{e.Time, "writing a call of " + d.Name}
	case hermes.Appended:
		v.last = max(v.last, d.Message.ID)
		if d.Message.Role == hermes.RoleAssistant {
			v.step()
		}
	case hermes.CallStarted, hermes.CallProgress, hermes.CallDone:
		v.begin(e.Time, 0)
		v.turn.Calls = call(v.turn.Calls, e, &v.activity)
	case hermes.UsageUpdated:
		if v.turn != nil {
			v.turn.Usage = d.Turn
		}
	case hermes.TurnDone:
		v.turn, v.done, v.activity = nil, &d, Activity{e.Time, "answered"}
		v.step()
	case hermes.Queued:
		v.queue = d.Messages
	case hermes.Closed:
		v.turn, v.questions, v.children = nil, nil, nil
	}
}

// begin notes that a turn runs.
func (v *View) begin(at time.Time, number int64) {
	if v.turn == nil {
		v.turn = &Turn{Began: at}
		v.step()
	}
	if number != 0 {
		v.turn.Number = number
		v.activity = Activity{at, "waiting for the model"}
	}
}

// step forgets the text of a step that is stored, or that the model starts again.
func (v *View) step() {
	v.text.Reset()
	v.thinking.Reset()
	if v.turn != nil {
		v.turn.Writing = hermes.CallDeltaSeen{}
	}
}

// question opens and closes questions, of children too.
func (v *View) question(e Envelope) bool {
	find := func(id string) int {
		return slices.IndexFunc(v.questions, func(q OpenQuestion) bool { return q.Session == e.Session && q.Asked.ID == id })
	}
	switch d := e.Event.(type) {
	case hermes.Asked:
		v.questions = append(v.questions, OpenQuestion{Session: e.Session, Asked: d})
		v.activity = Activity{e.Time, "waiting for an answer"}
	case hermes.AnswerTaken:
		if i := find(d.ID); i >= 0 {
			v.questions = slices.Delete(slices.Clone(v.questions), i, i+1)
		}
		v.activity = Activity{e.Time, "answered a question"}
	case hermes.Escalated:
		if i := find(d.ID); i >= 0 {
			v.questions = slices.Clone(v.questions)
			v.questions[i].Escalated = e.Time
		}
	default:
		return false
	}
	return true
}

// call opens and closes running calls.
func call(calls []Call, e Envelope, a *Activity) []Call {
	find := func(id string) int { return slices.IndexFunc(calls, func(c Call) bool { return c.Call.ID == id }) }
	switch d := e.Event.(type) {
	case hermes.CallStarted:
		c := Call{Call: d.Call, Preview: d.Preview, Began: e.Time}
		*a = Activity{e.Time, c.name()}
		return append(calls, c)
	case hermes.CallProgress:
		if i := find(d.CallID); i >= 0 {
			calls[i].Progress = d.Text
			*a = Activity{e.Time, calls[i].name()}
		}
	case hermes.CallDone:
		if i := find(d.Call.ID); i >= 0 {
			*a = Activity{e.Time, calls[i].name() + " ended"}
			return slices.Delete(calls, i, i+1)
		}
	}
	return calls
}

// child notes what a child session does.
func (v *View) child(e Envelope) {
	i := slices.IndexFunc(v.children, func(c Child) bool { return c.ID == e.Session })
	if _, ok := e.Event.(hermes.Closed); ok {
		if i >= 0 {
			v.children = slices.Delete(v.children, i, i+1)
		}
		v.questions = slices.DeleteFunc(slices.Clone(v.questions), func(q OpenQuestion) bool { return q.Session == e.Session })
		return
	}
	if i < 0 {
		v.children = append(v.children, Child{ID: e.Session, Parent: e.Parent, Began: e.Time})
		i = len(v.children) - 1
	}
	c := &v.children[i]
	c.Activity.At = e.Time
	switch d := e.Event.(type) {
	case hermes.TextDelta:
		c.Activity.What = "writing"
	case hermes.ReasoningDelta:
		c.Activity.What = "thinking"
	case hermes.CallDeltaSeen:
		c.Activity.What = "writing a call of " + d.Name
	case hermes.Asked:
		c.Activity.What = "waiting for an answer"
	case hermes.AnswerTaken:
		c.Activity.What = "answered a question"
	case hermes.TurnDone:
		c.Calls, c.Activity.What = nil, "answered"
	case hermes.TurnStarted:
		c.Goal = d.Message.Visible()
	case hermes.StepStarted:
		c.ModelCalls++
		c.Activity.What = "waiting for the model"
	case hermes.UsageUpdated:
		c.Usage, c.Cost = d.Turn, d.Cost
	case hermes.CallStarted, hermes.CallProgress, hermes.CallDone:
		c.Calls = call(c.Calls, e, &c.Activity)
	}
	v.activity = Activity{e.Time, "a child session: " + c.Activity.What}
}

// Idle reports whether no turn runs.
func (v *View) Idle() bool { return v.turn == nil }
