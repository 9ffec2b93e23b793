package tui

import (
	"context"

	"hermes"
)

// attached is the session of the chat, and those that are being closed.
type attached struct {
	session Session // nil before it is open
	events  <-chan hermes.Event
	// unsubscribe ends the subscription to events.
	unsubscribe func()
	closing     []chan struct{} // closed when a dropped session is
}

// gotSession is the result of opening a session.
type gotSession struct {
	session Session
	opened  openedMsg
}

func openSession(ctx context.Context, open func(context.Context, Want) (Session, bool, error), w Want) any {
	s, resumed, err := open(ctx, w)
	if err != nil {
		return gotSession{opened: openedMsg{err: err}}
	}
	st, err := s.State(ctx)
	return gotSession{s, openedMsg{id: s.ID(), state: st, resumed: resumed, err: err}}
}

// take makes a session the current one.
func (a *attached) take(s Session) {
	a.session = s
	a.events, a.unsubscribe = s.Subscribe(256)
}

// drop releases the session and closes it in the background.
func (a *attached) drop() {
	if a.session == nil {
		return
	}
	s, closed := a.session, make(chan struct{})
	a.unsubscribe()
	a.session, a.events = nil, nil
	a.closing = append(a.closing, closed)
	go func() { // awaited before Run returns
		defer close(closed)
		_ = s.Close() // the session logs its own errors
	}()
}

// wait waits until all dropped sessions are closed.
func (a *attached) wait() {
	for _, closed := range a.closing {
		<-closed
	}
}
