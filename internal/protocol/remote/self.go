package remote

import (
	"slices"

	"hermes"
	"hermes/internal/protocol"
)

// A server names this frontend as it knows it. Whoever uses the client knows it by another From,
// under which it also talks to other servers. The client puts that in its place.

// replace puts self in the place of what the server calls this frontend.
func (c *Client) replace(f *hermes.From, self hermes.From) {
	if self.Client != "" && f.Client == c.welcome.From.Client {
		*f = self
	}
}

// replaceIn does so in an event.
func (c *Client) replaceIn(e *protocol.Envelope, self hermes.From) {
	switch d := e.Event.(type) {
	case hermes.TurnStarted:
		c.replace(&d.From, self)
		e.Event = d
	case hermes.AnswerTaken:
		c.replace(&d.By, self)
		e.Event = d
	case hermes.CommandDone:
		c.replace(&d.From, self)
		e.Event = d
	case hermes.Queued:
		for i := range d.Messages {
			c.replace(&d.Messages[i].From, self)
		}
	}
}

// replaceAll does so in a snapshot, which has no frontend but the others.
func (c *Client) replaceAll(s *protocol.Snapshot, self hermes.From) {
	if s.Turn != nil {
		c.replace(&s.Turn.From, self)
	}
	for i := range s.Queue {
		c.replace(&s.Queue[i].From, self)
	}
	s.Frontends = slices.Clone(s.Frontends)
	for i := range s.Frontends {
		c.replace(&s.Frontends[i], self)
	}
}
