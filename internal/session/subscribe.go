package session

import (
	"slices"
	"sync"

	"hermes"
)

// maxPending is how many events a subscriber may be behind before its deltas
// are dropped. Successive pieces of text are joined, so this is rarely
// reached.
const maxPending = 4096

// subscribers passes every event to all subscribers without waiting for them.
type subscribers struct {
	mu     sync.Mutex
	list   []*subscription
	closed bool
}

// subscription is one subscriber: a queue and the goroutine that empties it.
type subscription struct {
	mu       sync.Mutex
	pending  []hermes.Event
	more     []byte // text that belongs to the last pending event
	wake     chan struct{}
	ended    bool // no more events will come
	out      chan hermes.Event
	canceled chan struct{}
	cancel   sync.Once
}

// add begins a subscription. The channel is closed after the last event, or
// after cancel.
func (s *subscribers) add(buffer int) (<-chan hermes.Event, func()) {
	sub := &subscription{
		wake:     make(chan struct{}, 1),
		out:      make(chan hermes.Event, max(buffer, 0)),
		canceled: make(chan struct{}),
	}
	s.mu.Lock()
	sub.ended = s.closed
	s.list = append(s.list, sub)
	s.mu.Unlock()
	go sub.pump() // ends with cancel or with the session
	return sub.out, func() { s.remove(sub) }
}

func (s *subscribers) remove(sub *subscription) {
	sub.cancel.Do(func() { close(sub.canceled) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(x *subscription) bool { return x == sub })
}

func (s *subscribers) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) == 0
}

func (s *subscribers) publish(e hermes.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.list {
		sub.put(e)
	}
}

// close ends every subscription once its pending events are read.
func (s *subscribers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, sub := range s.list {
		sub.end()
	}
}

func (s *subscription) put(e hermes.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.join(e) || len(s.pending) >= maxPending && isDelta(e) {
		return
	}
	s.settle()
	s.pending = append(s.pending, e)
	s.signal()
}

// maxJoined is the size from which a piece of text is joined no more, in bytes.
const maxJoined = 4096

// join adds text to the last pending event if that is text too.
func (s *subscription) join(e hermes.Event) bool {
	if len(s.pending) == 0 {
		return false
	}
	var before, text string
	switch last := s.pending[len(s.pending)-1].(type) {
	case hermes.TextDelta:
		d, ok := e.(hermes.TextDelta)
		if !ok {
			return false
		}
		before, text = last.Text, d.Text
	case hermes.ReasoningDelta:
		d, ok := e.(hermes.ReasoningDelta)
		if !ok {
			return false
		}
		before, text = last.Text, d.Text
	default:
		return false
	}
	if len(before)+len(s.more) >= maxJoined {
		return false
	}
	s.more = append(s.more, text...)
	return true
}

// settle completes the last pending event, so that it can be read.
func (s *subscription) settle() {
	if len(s.more) == 0 {
		return
	}
	last := &s.pending[len(s.pending)-1]
	switch d := (*last).(type) {
	case hermes.TextDelta:
		*last = hermes.TextDelta{Text: d.Text + string(s.more)}
	case hermes.ReasoningDelta:
		*last = hermes.ReasoningDelta{Text: d.Text + string(s.more)}
	}
	s.more = s.more[:0]
}

func isDelta(e hermes.Event) bool {
	switch e.(type) {
	case hermes.TextDelta, hermes.ReasoningDelta, hermes.CallDeltaSeen, hermes.CallProgress:
		return true
	}
	return false
}

func (s *subscription) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.signal()
}

func (s *subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscription) pump() {
	defer close(s.out)
	for {
		batch, ended := s.take()
		for _, e := range batch {
			select {
			case s.out <- e:
			case <-s.canceled:
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		if ended {
			return
		}
		select {
		case <-s.wake:
		case <-s.canceled:
			return
		}
	}
}

func (s *subscription) take() ([]hermes.Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	batch := s.pending
	s.pending = nil
	return batch, s.ended
}
