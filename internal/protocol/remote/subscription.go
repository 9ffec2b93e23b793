package remote

import (
	"context"
	"sync"

	"hermes"
	"hermes/internal/protocol"
)

// subscription is what a client has received of a session and its frontend has not read yet. The
// connection is read on meanwhile, so that no call waits behind events.
type subscription struct {
	client  *Client
	session string
	id      string
	from    hermes.From
	out     chan protocol.Envelope
	wake    chan struct{} // holds one

	mu     sync.Mutex
	list   []protocol.Envelope
	sizes  int  // of what is in the list, in bytes
	lagged bool // some did not fit
	over   bool // no more will come
}

func newSubscription(c *Client, session string, from hermes.From) *subscription {
	return &subscription{client: c, session: session, from: from, out: make(chan protocol.Envelope, 64), wake: make(chan struct{}, 1)}
}

// add keeps an envelope, whose message has so many bytes. If there is no room, the
// subscription ends: the frontend attaches again.
func (s *subscription) add(e protocol.Envelope, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over || s.lagged:
		return
	case len(s.list) >= maxWaiting || len(s.list) > 0 && s.sizes+size > maxWaitingBytes:
		s.lagged = true
		s.client.start(func() { s.client.detach(s.id) }) // ends with the connection, or when the server reads
	default:
		s.list, s.sizes = append(s.list, e), s.sizes+size
	}
	s.signal()
}

// end says that no more will come.
func (s *subscription) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.signal()
}

func (s *subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns all that has come, and whether that is the end.
func (s *subscription) take() (batch []protocol.Envelope, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch = s.list
	s.list, s.sizes = nil, 0
	if s.lagged {
		batch = append(batch, protocol.Envelope{Session: s.session, Event: hermes.Lagged{}})
	}
	return batch, s.over || s.lagged
}

// deliver hands the frontend its events until they end, or the frontend goes. Then the session
// has forgotten it.
func (s *subscription) deliver(ctx context.Context) {
	defer close(s.out)
	defer s.client.detach(s.id)
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		case <-s.client.closed:
			return
		}
		batch, end := s.take()
		for _, e := range batch {
			select {
			case s.out <- e:
			case <-ctx.Done():
				return
			case <-s.client.closed:
				return
			}
		}
		if end {
			return
		}
	}
}
