package peer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/peer"
	"hermes/internal/protocol"
)

// client has the session b, in another process. What it does not play panics.
type client struct {
	protocol.Client
	attach func(ctx context.Context, n int) (protocol.Snapshot, <-chan protocol.Envelope, error)
	said   chan string
	n      int
}

func (c *client) Sessions(context.Context, protocol.Filter) ([]protocol.SessionInfo, error) {
	return []protocol.SessionInfo{{ID: "b", Running: &protocol.Running{Owner: "another"}}}, nil
}

func (c *client) Attach(ctx context.Context, _ string, _ hermes.From, _ protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	c.n++
	return c.attach(ctx, c.n)
}

func (c *client) Do(_ context.Context, _ string, _ hermes.From, op hermes.Op) error {
	if say, ok := op.(hermes.Say); ok {
		c.said <- say.Parts[0].Text
	}
	return nil
}

// TestASlowDeliveryHoldsNoOtherUp, neither a second one nor Close.
func TestASlowDeliveryHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{}, 2)
	p := peer.New(peer.Config{Client: &client{attach: func(ctx context.Context, _ int) (protocol.Snapshot, <-chan protocol.Envelope, error) {
		slow <- struct{}{}
		<-ctx.Done()
		return protocol.Snapshot{}, nil, context.Cause(ctx)
	}}})
	first := make(chan error, 1)
	go func() {
		_, _, err := p.Send(t.Context(), hermes.PeerMessage{From: "a", To: "b"})
		first <- err
	}()
	<-slow
	ctx, stop := context.WithCancelCause(t.Context())
	stop(hermes.ErrInterrupted)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, _, err := p.Send(ctx, hermes.PeerMessage{From: "c", To: "b"}); !errors.Is(err, hermes.ErrInterrupted) {
			t.Errorf("the second one got %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-first; err == nil {
			t.Error("the first one was delivered")
		}
		if _, _, err := p.Send(t.Context(), hermes.PeerMessage{From: "a", To: "b"}); !errors.Is(err, hermes.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a slow delivery holds all others up")
	}
}

// TestAMessageThatWasSeenWaitingOnlyInASnapshot is known to be dropped when it waits no more.
func TestAMessageThatWasSeenWaitingOnlyInASnapshot(t *testing.T) {
	t.Parallel()
	lost, events := make(chan protocol.Envelope), make(chan protocol.Envelope, 2)
	c := &client{said: make(chan string, 1)}
	c.attach = func(_ context.Context, n int) (protocol.Snapshot, <-chan protocol.Envelope, error) {
		if n == 1 {
			return protocol.Snapshot{}, lost, nil
		}
		events <- protocol.Envelope{Session: "b", Event: hermes.Queued{}}
		events <- protocol.Envelope{Session: "b", Event: hermes.TurnDone{Turn: 3, Outcome: hermes.OutcomeInterrupted}}
		return protocol.Snapshot{Queue: []hermes.QueuedMessage{{Text: "[header]\nhello"}}}, events, nil
	}
	p := peer.New(peer.Config{Client: c})
	defer p.Close()
	answer, _, err := p.Send(t.Context(), hermes.PeerMessage{From: "a", To: "b", Header: "[header]", Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	<-c.said
	close(lost)
	select {
	case a := <-answer:
		if a.Outcome != hermes.OutcomeInterrupted || !strings.Contains(a.Text, "was dropped") {
			t.Errorf("the answer is %+v", a)
		}
	case <-time.After(time.Minute):
		t.Fatal("the message is waited for although it was dropped")
	}
}

// TestASessionThatWaitsItselfIsNotWaitedFor if another process has it; a message without waiting is sent.
func TestASessionThatWaitsItselfIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]bool{`{"session":"c","message":"x"}`: true, `{"session":"c","message":"x","wait":false}`: false} {
		c := &client{said: make(chan string, 2)}
		call := protocol.Call{Call: hermes.ToolCall{ID: "1", Name: hermes.PeerTool, Arguments: arguments}}
		c.attach = func(context.Context, int) (protocol.Snapshot, <-chan protocol.Envelope, error) {
			return protocol.Snapshot{Turn: &protocol.Turn{Calls: []protocol.Call{call}}}, make(chan protocol.Envelope), nil
		}
		p := peer.New(peer.Config{Client: c})
		_, _, err := p.Send(t.Context(), hermes.PeerMessage{From: "a", To: "b", Waits: true})
		if refused := err != nil; refused != want || refused == (len(c.said) > 0) {
			t.Errorf("%s: %v, said %d", arguments, err, len(c.said))
		}
		if _, _, err := p.Send(t.Context(), hermes.PeerMessage{From: "a", To: "b"}); err != nil {
			t.Errorf("%s, without waiting: %v", arguments, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
