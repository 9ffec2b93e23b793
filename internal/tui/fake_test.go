package tui

import (
	"context"
	"sync"
	"time"

	"hermes"
	"hermes/internal/session"
)

// fakeSession answers each message with what its script says.
type fakeSession struct {
	script     func(f *fakeSession, text string)
	transcript []hermes.Message // from before

	mu      sync.Mutex
	ops     []hermes.Op
	subs    []chan hermes.Event
	closed  bool
	wait    sync.WaitGroup
	replies chan hermes.Reply
	stopped chan struct{}
}

func newFake(script func(f *fakeSession, text string)) *fakeSession {
	return &fakeSession{script: script, replies: make(chan hermes.Reply, 8), stopped: make(chan struct{}, 8)}
}

func (f *fakeSession) ID() string { return "20260102_030405_fake" }

func (f *fakeSession) State(context.Context) (session.State, error) {
	return session.State{Row: hermes.Session{ID: f.ID(), Model: "maker/model-1"}, Window: 1000, Transcript: f.transcript}, nil
}

func (f *fakeSession) Submit(_ context.Context, op hermes.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops = append(f.ops, op)
	switch op := op.(type) {
	case hermes.Say:
		f.wait.Go(func() { f.script(f, op.Parts[0].Text) })
	case hermes.Reply:
		f.replies <- op
	case hermes.Stop:
		f.stopped <- struct{}{}
	}
	return nil
}

func (f *fakeSession) Subscribe(int) (<-chan hermes.Event, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := make(chan hermes.Event, 100_000)
	f.subs = append(f.subs, events)
	return events, func() {}
}

func (f *fakeSession) emit(events ...hermes.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		for _, s := range f.subs {
			s <- e
		}
	}
}

func (f *fakeSession) Close() error {
	f.wait.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func (f *fakeSession) did() []hermes.Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]hermes.Op(nil), f.ops...)
}

// reply begins a turn, streams a text and ends the turn.
func (f *fakeSession) reply(said, text string) {
	f.emit(hermes.TurnStarted{Turn: 1, Message: hermes.UserText(said)}, hermes.StepStarted{Step: 1, Model: "maker/model-1"})
	for i := 0; i < len(text); i += 5 {
		f.emit(hermes.TextDelta{Text: text[i:min(i+5, len(text))]})
	}
	f.emit(answer(text), hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: text, Steps: 1, Duration: time.Second})
}
