package session

import (
	"context"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/session/turn"
)

// State is a snapshot of a session with its transcript, for slash commands.
type State struct {
	Row        hermes.Session
	Transcript []hermes.Message // must not be changed
	Running    bool
	Queued     int
	// Cut is set when the last turn was cut off and can be continued.
	Cut bool
	// Asking is set when a question was open when the turn was cut off:
	// Continue asks it again.
	Asking bool
	// Last is the usage of the last answered request: how full the context
	// window is. Window is its size in tokens, 0 if unknown.
	Last   hermes.Usage
	Window int
	// Effort is the effort of the session's model; empty means the model's
	// default. Next is the model of the next turn, if it is another one.
	Effort hermes.Effort
	Next   string
	Mode   hermes.RightsMode // how risky calls are treated now
	// Threshold is how many tokens start a compression, 0 if none does.
	Threshold int
	// Broken is the last request that did not begin with the one before it,
	// and Breaks how many there were in this process.
	Broken *hermes.PrefixBreak
	Breaks int
	Tools  []hermes.Spec
}

// Recalled reports whether a part of a message is what a memory knew.
func Recalled(p hermes.Part) bool { return turn.Recalled(p) }

// IsSurroundings reports whether a part of a message holds the surroundings.
func IsSurroundings(p hermes.Part) bool { return turn.IsSurroundings(p) }

// State returns a snapshot of the session.
func (s *Session) State(ctx context.Context) (State, error) {
	var st State
	var read func(context.Context) ([]hermes.Message, error)
	err := s.call(ctx, func() error {
		if st = s.state(); !s.record.Whole() {
			read = s.record.Reader()
		}
		return nil
	})
	if err != nil || read == nil {
		return st, err
	}
	st.Transcript, err = read(ctx) // not in the session's goroutine
	return st, err
}

// state returns a snapshot. It shares nothing that the actor changes later.
func (s *Session) state() State {
	st := State{
		Row: s.record.Row, Transcript: s.record.Messages(), Running: s.turn != nil, Queued: len(s.queue),
		Cut: s.cut, Asking: s.parked(), Last: s.record.Last, Tools: s.specs, Mode: s.Mode(), Effort: s.effortOf(s.record.Row.Model),
	}
	if s.model.once != nil {
		st.Next = s.model.once.ID()
	}
	if s.runtime == nil {
		return st
	}
	if s.runtime.Window != nil {
		st.Window = s.runtime.Window(st.Row.Model)
	}
	if t, ok := s.runtime.Context.(interface {
		Threshold(model string, window int) int
	}); ok {
		st.Threshold = t.Threshold(st.Row.Model, st.Window)
	}
	if s.runtime.Follower != nil {
		st.Broken, st.Breaks = s.runtime.Follower.Prefix()
	}
	return st
}

// described is what a snapshot says of the session that its events do not.
func (s *Session) described() protocol.Snapshot {
	st := s.state()
	return protocol.Snapshot{
		Session: s.info(), Mode: s.Mode(), Last: s.record.LastID(), Cut: st.Cut, Parked: st.Asking, Context: st.Last, Configured: s.configuration(),
	}
}

// Running says what the session is doing.
func (s *Session) Running() protocol.Running {
	var st protocol.Snapshot
	s.feed.fill(&st)
	return protocol.Running{Owner: s.cfg.Owner.Name, Here: true, State: st.State, Activity: st.Activity, Frontends: s.feed.frontends(), Questions: len(st.Questions)}
}

func (s *Session) info() protocol.SessionInfo {
	info := protocol.InfoOf(s.record.Row)
	info.Messages, info.Turns = s.record.Count(), s.record.LastTurn()
	if at := s.record.LastTime(); !at.IsZero() {
		info.Active = at
	}
	return info
}

// Info describes the session in a list.
func (s *Session) Info(ctx context.Context) (info protocol.SessionInfo, err error) {
	err = s.call(ctx, func() error {
		info = s.info()
		return nil
	})
	info.Running = new(s.Running())
	return info, err
}

// configuration is the model of the session and what depends on it.
func (s *Session) configuration() hermes.Configured {
	c := hermes.Configured{Model: s.record.Row.Model, Effort: s.effortOf(s.record.Row.Model)}
	if s.model.once != nil {
		c.Next = s.model.once.ID()
	}
	if s.runtime != nil && s.runtime.Window != nil {
		c.Window = s.runtime.Window(c.Model)
	}
	return c
}

// configured publishes the configuration if it has changed.
func (s *Session) configured() {
	if c := s.configuration(); c != s.shown {
		s.shown = c
		s.publish(c)
	}
}
