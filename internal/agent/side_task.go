package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"hermes"
)

// SideTask is background work for a session, with its own prompt and tools.
// Nothing of it is stored, and it cannot ask the user.
type SideTask struct {
	Model hermes.Model
	Tools hermes.Tools
	// Environment is where the tools read files; nil if they read none.
	Environment hermes.Environment

	Session hermes.SessionRef // the session it works for; calls get its id and provenance
	System  string
	Prompt  string
	Steps   int              // model calls; 0 means no limit
	Now     func() time.Time // nil is time.Now
}

// Run runs the task and yields its events. The last event is TurnDone; if the
// task failed, the error comes with it.
func (a SideTask) Run(ctx context.Context) iter.Seq2[hermes.Event, error] {
	read := NewTaint(a.Session.Provenance)
	return Run(ctx, Turn{
		Model: a.Model, Tools: a.Tools,
		Host: func(hermes.ToolCall, *Running) hermes.Host {
			return unattendedHost{a.Session, a.Environment, read}
		},
		Request:    hermes.Request{System: a.System, Tools: a.Tools.Specs(), Session: a.Session.ID, Scope: hermes.Scope{Turn: a.Session.Turn}},
		Transcript: []hermes.Message{hermes.UserText(a.Prompt)},
		Number:     a.Session.Turn, Budget: NewBudget(a.Steps),
		Steer: func() string { return "" }, Now: a.Now,
	})
}

// unattendedHost is the host of a side task's calls: it refuses every approval.
type unattendedHost struct {
	session hermes.SessionRef
	env     hermes.Environment
	read    *Taint // by the calls of the task
}

var errUnattendedTask = errors.New("not available in a background task; go on without it")

// Session returns the session with what the task has read so far.
func (n unattendedHost) Session() hermes.SessionRef {
	ref := n.session
	ref.Provenance = n.read.String()
	if ref.Mode != hermes.ModePlan { // what the user allows in the session is not allowed here
		ref.Mode = ""
	}
	return ref
}

// Finish adds what a call has read.
func (n unattendedHost) Finish(r *hermes.Result) { n.read.Add(r.Provenance) }

func (n unattendedHost) Environment() hermes.Environment { return n.env }
func (unattendedHost) Progress(string)                   {}

func (unattendedHost) Approve(context.Context, hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	return hermes.ApprovalAnswer{Decision: hermes.Unattended}, nil
}

func (unattendedHost) Ask(context.Context, hermes.Question) (hermes.Answer, error) {
	return hermes.Answer{}, errUnattendedTask
}

func (unattendedHost) Spawn(context.Context, hermes.Task) (hermes.Report, error) {
	return hermes.Report{}, errUnattendedTask
}

func (unattendedHost) Invoke(context.Context, string, json.RawMessage) (hermes.Result, error) {
	return hermes.Result{}, errUnattendedTask
}
