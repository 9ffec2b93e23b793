// Package protocoltest is the contract of protocol.Client as a suite of tests, which every
// implementation runs, over real sessions with a scripted model.
//
// Start at Run, and at World for tests of one's own.
package protocoltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/local"
	"hermes/internal/session"
)

// World is a process that runs sessions.
type World struct {
	// Client reaches the sessions from inside of the process.
	Client *local.Client
	Store  hermes.Store
	// Prepare, if set before a session is opened, is called when its first turn is prepared.
	Prepare func()
}

// NewWorld returns a process whose model plays the steps. Its sessions have the [Tools].
func NewWorld(t testing.TB, steps ...hermestest.Step) *World {
	t.Helper()
	return NewWorldOf(t, hermestest.NewScript(steps...))
}

// NewWorldOf returns a process with a model.
func NewWorldOf(t testing.TB, model hermes.Model) *World {
	t.Helper()
	w := &World{Store: hermestest.NewStore()}
	m := session.NewManager(session.Config{
		Store: w.Store, Models: models{model}, Owner: hermes.Owner{Name: "here"},
		NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
			if w.Prepare != nil {
				w.Prepare()
			}
			return &session.Runtime{Tools: Tools{}, Prompt: prompter{}}, nil
		},
	})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Client = local.New(local.Config{
		Sessions: func(context.Context) (*session.Manager, error) { return m, nil },
		Store:    func(context.Context) (hermes.Store, error) { return w.Store, nil },
	})
	return w
}

// models has one model, under any name but "missing".
type models struct{ model hermes.Model }

func (m models) Model(_ context.Context, c hermes.ModelChoice) (hermes.Model, error) {
	if c.Ref == "missing" {
		return nil, errors.New("there is no model missing")
	}
	return m.model, nil
}

// prompter builds a short prompt.
type prompter struct{}

func (prompter) Prompt(context.Context, hermes.Session, []hermes.Spec) (hermes.SystemPrompt, error) {
	return hermes.SystemPrompt{Text: "You are a test."}, nil
}

// Tools are what the model can call: approve asks for an approval, ask asks a question and
// returns the answer.
type Tools struct{}

// Specs returns the tools.
func (Tools) Specs() []hermes.Spec { return []hermes.Spec{{Name: "approve"}, {Name: "ask"}} }

// Spec returns one tool.
func (t Tools) Spec(name string) (hermes.Spec, bool) {
	for _, s := range t.Specs() {
		if s.Name == name {
			return s, true
		}
	}
	return hermes.Spec{}, false
}

// Preview returns the arguments.
func (Tools) Preview(c hermes.ToolCall) string { return c.Arguments }

// Canonical returns the arguments as they are.
func (Tools) Canonical(c hermes.ToolCall) string { return c.Arguments }

// Run asks the user.
func (Tools) Run(ctx context.Context, c *hermes.Call) hermes.Result {
	c.Host.Progress("asking")
	if c.Name == "approve" {
		a, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID, Tool: "approve", Subject: "rm -rf build"})
		return outcome(string(a.Decision), err)
	}
	a, err := c.Host.Ask(ctx, hermes.Question{CallID: c.ID, Text: "Which colour?"})
	return outcome(strings.Join(a.Texts, ", "), err)
}

func outcome(text string, err error) hermes.Result {
	if err != nil {
		return hermes.Result{Text: err.Error(), Failed: true}
	}
	return hermes.Result{Text: text}
}

// Frontend is one that is attached to a session.
type Frontend struct {
	t      testing.TB
	Client protocol.Client
	From   hermes.From
	ID     string // of the session
	// Snapshot is the state that it began with, and Events what followed.
	Snapshot protocol.Snapshot
	Events   <-chan protocol.Envelope
	Detach   context.CancelFunc
	// After is its position.
	After protocol.After
}

// Attach attaches a frontend to a session.
func Attach(t testing.TB, c protocol.Client, id string, from hermes.From, after protocol.After) *Frontend {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s, events, err := c.Attach(ctx, id, from, after)
	if err != nil {
		t.Fatal(err)
	}
	return &Frontend{t, c, from, id, s, events, cancel, protocol.After{Epoch: s.Epoch, Seq: s.Seq}}
}

// Open opens a new session and attaches a frontend to it.
func Open(t testing.TB, c protocol.Client, from hermes.From) *Frontend {
	t.Helper()
	info, err := c.Open(t.Context(), from, hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	return Attach(t, c, info.ID, from, protocol.After{})
}

// Do sends an operation, which must be accepted.
func (f *Frontend) Do(op hermes.Op) {
	f.t.Helper()
	if err := f.Client.Do(f.t.Context(), f.ID, f.From, op); err != nil {
		f.t.Fatalf("%T: %v", op, err)
	}
}

// Say sends a message, which must be accepted.
func (f *Frontend) Say(text string) {
	f.t.Helper()
	f.Do(hermes.Say{Parts: []hermes.Part{{Text: text}}, Busy: hermes.BusyQueue})
}

// Next returns the next event of type E.
func Next[E hermes.Event](f *Frontend) E {
	f.t.Helper()
	for e := range f.Events {
		if f.After.Seq = max(f.After.Seq, e.Seq); e.Epoch != f.After.Epoch {
			f.After = protocol.After{Epoch: e.Epoch, Seq: e.Seq}
		}
		if got, ok := e.Event.(E); ok {
			return got
		}
	}
	var zero E
	f.t.Fatalf("no %T came", zero)
	return zero
}
