package tui

import (
	"errors"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/protocol"
)

// stopped says that the last turn did not come to its end.
func (m *model) stopped(s protocol.Snapshot, asksAgain bool) {
	switch {
	case s.Parked && asksAgain:
		m.say(m.Warn("Waiting for your answer."))
	case s.Parked:
		m.say(m.Warn("The last turn was cut off at a question. Use /continue to see it again."))
	case s.Cut:
		m.say(m.Warn("The last turn was cut off. Use /continue to resume it."))
	}
}

// lost says that the session is out of reach.
func (m *model) lost(err error) {
	again := m.conv.lost
	if m.conv.lost = true; again {
		return
	}
	m.say(m.Warn(markup.Clip(lostText(err), m.width)))
}

// lostText says why a session is out of reach, and what is done.
func lostText(err error) string {
	if errors.Is(err, hermes.ErrClosed) {
		return "The session was closed; opening it again…"
	}
	return "The connection to the session was lost; attaching again…"
}

// found notes that the session is back. What happened meanwhile came as events.
func (m *model) found(s protocol.Snapshot) []any {
	lost, other := m.conv.lost, m.conv.attached(s.Epoch)
	if m.conv.lost = false; s.Continued {
		return m.deliver()
	}
	m.last = s.Context
	if t := s.Turn; t != nil && !t.Began.IsZero() {
		m.turn.began = t.Began
	}
	if lost && !m.turn.busy {
		m.stopped(s, false)
	}
	do := m.deliver()
	if left := leftWaiting(s); lost && other && left != "" && len(do) == 0 {
		m.say(m.Warn(left))
	}
	return do
}

// isGone says why the session cannot be reached any more.
func (m *model) isGone(err error) {
	m.conv.closed, m.conv.lost = true, false
	m.turn.end()
	m.finish()
	m.asks, m.calls = nil, nil
	m.input.Unstash()
	m.input.Back(m.conv.giveUp())
	m.say(m.errorLines(err.Error())...)
	m.say(m.Warn(markup.Clip("The session has ended. Use /new to start another, or /resume and its id to open it again.", m.width)))
}
