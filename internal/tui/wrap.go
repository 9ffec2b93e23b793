package tui

import (
	"context"
	"slices"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// Wrap is a session as the chat uses it, for one frontend.
func Wrap(s *session.Session, from hermes.From) Session { return wrapped{s, from} }

type wrapped struct {
	*session.Session
	from hermes.From
}

// Submit sends an op.
func (w wrapped) Submit(ctx context.Context, op hermes.Op) error { return w.Do(ctx, w.from, op) }

// Subscribe returns the events from now on. What a slow reader missed comes as events, too.
func (w wrapped) Subscribe(buffer int) (<-chan hermes.Event, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan hermes.Event, buffer)
	updates := protocol.Watched{Client: lone{session: w.Session}, From: w.from, Run: hermes.RunSpec{Session: w.ID()}, Seen: -1}.Watch(ctx)
	if first := <-updates; first.Failed != nil {
		close(out)
		return out, cancel
	}
	go func() { // ends with cancel or with the session
		defer cancel()
		defer close(out)
		o := &one{p: channel{ctx, out}}
		for u := range updates {
			if u.Lost != nil || u.Failed != nil {
				return
			}
			o.take(u)
		}
	}()
	return out, cancel
}

// channel passes events on.
type channel struct {
	ctx context.Context
	out chan<- hermes.Event
}

func (c channel) Event(e hermes.Event) {
	select {
	case c.out <- e:
	case <-c.ctx.Done():
	}
}

func (channel) Err() error { return nil }

// lone is a client for one session.
type lone struct {
	protocol.Client
	session *session.Session
}

func (l lone) Attach(ctx context.Context, _ string, from hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	return l.session.Attach(ctx, from, after)
}

func (l lone) History(ctx context.Context, _ string, r hermes.Range) ([]hermes.Message, error) {
	st, err := l.session.State(ctx)
	return slices.DeleteFunc(slices.Clone(st.Transcript), func(m hermes.Message) bool { return m.ID <= r.After || m.ID >= r.Before }), err
}
