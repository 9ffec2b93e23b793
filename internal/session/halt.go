package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"hermes"
	"hermes/internal/protocol"
)

// halted returns why nothing may begin, nil if it may.
func (c *Config) halted() error {
	if c.Halted == nil {
		return nil
	}
	return c.Halted()
}

// halt is what a session knows of one.
type halt struct {
	held    bool            // no turn was asked for since
	resting []chan struct{} // closed when no turn runs
}

// haltedNotice is what frontends are told of a halt.
const haltedNotice = "`hermes panic` stopped this session. After `hermes panic --off`, messages that wait go with your next one, or with /continue."

// Halt stops all turns, child sessions, jobs and background processes at once, also of sessions
// that are being opened, and ends what commands left running. It returns when all that has ended or
// ctx has; then the error says what did not. Messages that wait stay stored, and begin no turn by themselves. What keeps others
// from beginning is Config.Halted.
func (m *Manager) Halt(ctx context.Context) (protocol.Halted, error) {
	closed := m.closing.Halt()
	m.mu.Lock()
	all := maps.Clone(m.live)
	m.mu.Unlock()
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		halted protocol.Halted
		errs   []error
	)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		wg.Go(func() {
			turns, jobs, live, err := all[id].halt(ctx)
			mu.Lock()
			defer mu.Unlock()
			if live {
				halted.Sessions++
			}
			halted.Turns += turns
			halted.Jobs += jobs
			if err != nil {
				errs = append(errs, fmt.Errorf("session %s did not stop: %w", id, err))
			}
		})
	}
	wg.Wait()
	select {
	case <-closed:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("what sessions left to do at their end did not stop: %w", context.Cause(ctx)))
	}
	if m.cfg.EndLeft != nil { // also of sessions that have ended
		errs = append(errs, m.cfg.EndLeft())
	}
	return halted, errors.Join(errs...)
}

// halt stops the work of a session.
func (p *liveSession) halt(ctx context.Context) (turns, jobs int, live bool, err error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return 0, 0, false, context.Cause(ctx)
	}
	if p.err != nil {
		return 0, 0, false, nil
	}
	s := p.session
	rest := make(chan struct{})
	var ended <-chan struct{} // the jobs have
	err = s.call(ctx, func() error {
		turns, jobs, ended = s.haltNow()
		s.halt.resting = append(s.halt.resting, rest)
		return nil
	})
	if err == nil {
		for _, stopped := range []<-chan struct{}{rest, ended} {
			select {
			case <-stopped:
			case <-s.done:
			case <-ctx.Done():
				return 0, jobs, true, context.Cause(ctx)
			}
		}
		left := func() error { return nil }
		err = s.call(ctx, func() error { // what its last call started
			s.endProcesses()
			if s.runtime != nil && s.runtime.EndLeft != nil {
				left = s.runtime.EndLeft
			}
			return nil
		})
		if err == nil {
			err = left()
		}
	}
	if errors.Is(err, hermes.ErrClosed) { // its end ends all that it has
		select {
		case <-s.done:
			return turns, jobs, false, nil
		case <-ctx.Done():
			return 0, jobs, true, context.Cause(ctx)
		}
	}
	return turns, jobs, true, err
}

// haltNow stops the turn, the jobs and the background processes, and keeps the queue.
func (s *Session) haltNow() (turns, jobs int, ended <-chan struct{}) {
	s.halt.held = true
	if s.turn != nil {
		turns = 1
		s.turn.Stop(hermes.ErrInterrupted)
	}
	for _, e := range s.deferred {
		e.reply <- hermes.ErrInterrupted
	}
	s.deferred = nil
	jobs, ended = s.jobs.Halt()
	s.endProcesses()
	s.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: haltedNotice})
	return turns, jobs, ended
}

// endProcesses ends what runs in the background.
func (s *Session) endProcesses() {
	if s.runtime != nil && s.runtime.Follower != nil {
		s.runtime.Follower.Stop()
	}
}

// rests tells those who wait for it that no turn runs.
func (s *Session) rests() {
	for _, c := range s.halt.resting {
		close(c)
	}
	s.halt.resting = nil
}
