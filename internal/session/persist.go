package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"hermes"
)

// unanswered is stored where a turn ended without an answer, so that user and
// assistant messages alternate.
const unanswered = "[No answer came to this message: the turn was cut off.]"

// persist makes sure that the session has a row and that this process has its
// lease. A new session gets its row with its first message, so that a session
// that was only opened is not stored.
func (s *Session) persist() error {
	if !s.stored {
		s.row.Started = s.cfg.Now()
		if err := s.cfg.Store.CreateSession(s.ctx, s.row); err != nil {
			return err
		}
		s.stored = true
	}
	if s.lease.Fence > 0 {
		return nil
	}
	l, err := s.cfg.Store.Acquire(s.ctx, s.id, s.cfg.Owner, leaseTime)
	if err != nil {
		return s.leaseFailed(err)
	}
	s.setLease(l)
	return nil
}

// setLease sets the lease of the actor and of the calls of a turn.
func (s *Session) setLease(l hermes.Lease) {
	s.lease = l
	s.sharedLease.Store(&l)
}

func (s *Session) leaseFailed(err error) error {
	if errors.Is(err, hermes.ErrLeased) {
		return leased{s.id, err}
	}
	return err
}

// leased is the error of a session that another process runs, worded for the
// user. The cause names that process and the time.
type leased struct {
	id    string
	cause error
}

func (e leased) Error() string {
	return fmt.Sprintf("session %s is open in another Hermes process; close it there, or start a new session", e.id)
}

func (e leased) Unwrap() error { return e.cause }

// renew renews the lease. If it is lost, another process runs the session, and
// this one stops at once and writes nothing more.
func (s *Session) renew() {
	if s.lease.Fence == 0 {
		return
	}
	l, err := s.cfg.Store.Renew(s.ctx, s.lease, leaseTime)
	switch {
	case err == nil:
		s.setLease(l)
	case errors.Is(err, hermes.ErrStaleLease):
		s.regain()
	default:
		s.cfg.Log.Warn("renew the lease", "session", s.id, "err", err)
	}
}

// regain takes an expired lease again, for example after the machine slept, if
// no other process had it meanwhile.
func (s *Session) regain() {
	l, err := s.cfg.Store.Acquire(s.ctx, s.id, s.cfg.Owner, leaseTime)
	if err == nil && l.Fence == s.lease.Fence+1 {
		s.setLease(l)
		return
	}
	if err == nil { // another process had it: our state is out of date
		_ = s.cfg.Store.Release(s.ctx, l) // it expires anyway
	}
	s.lost()
}

func (s *Session) lost() {
	s.setLease(hermes.Lease{})
	s.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: "Another Hermes process took this session over. This one stops."})
	if s.turn != nil {
		s.turn.cancel(hermes.ErrStaleLease)
	}
	s.close.Do(func() { close(s.closing) })
}

// store writes a message and only then makes it part of the transcript. The
// message gets its id and time. It takes the waiting messages of these ids, which it
// is made of.
func (s *Session) store(m *hermes.Message, take ...int64) error {
	if m.Time.IsZero() {
		m.Time = s.cfg.Now()
	}
	done, err := s.cfg.Store.Commit(context.WithoutCancel(s.ctx), s.lease, hermes.Change{TakeWaiting: take, Append: []hermes.Message{*m}})
	if err != nil {
		return s.writeFailed(err)
	}
	m.ID = done.IDs[0]
	s.transcript = append(s.transcript, *m)
	s.taken(take)
	return nil
}

// writeFailed words an error of the store for the user.
func (s *Session) writeFailed(err error) error {
	if errors.Is(err, hermes.ErrStaleLease) {
		s.lost()
		return err
	}
	return fmt.Errorf("the conversation could not be stored, so the turn was stopped: %w", err)
}

// closeUnanswered appends an answer to a last user message that has none.
func (s *Session) closeUnanswered() error {
	n := len(s.transcript)
	if n == 0 || s.transcript[n-1].Role != hermes.RoleUser {
		return nil
	}
	m := hermes.Message{Role: hermes.RoleAssistant, Turn: s.transcript[n-1].Turn, Parts: []hermes.Part{{Text: unanswered}}, Synthetic: true}
	return s.store(&m)
}

func (s *Session) addUsage(u hermes.Usage) {
	if u == (hermes.Usage{}) {
		return
	}
	s.row.Usage = s.row.Usage.Add(u)
	if _, err := s.cfg.Store.Commit(context.WithoutCancel(s.ctx), s.lease, hermes.Change{Usage: u}); err != nil {
		s.cfg.Log.Warn("store the usage", "session", s.id, "err", err)
	}
}

// storedSpec is the form of a tool in the session's row.
type storedSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func encodeSpecs(specs []hermes.Spec) (json.RawMessage, error) {
	list := make([]storedSpec, len(specs))
	for i, sp := range specs {
		list[i] = storedSpec{sp.Name, sp.Description, sp.Schema}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(list); err != nil {
		return nil, fmt.Errorf("store the list of tools: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// decodeSpecs returns the stored tools, which every request of the session
// sends, even if this process has others.
func decodeSpecs(tools json.RawMessage) ([]hermes.Spec, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var list []storedSpec
	if err := json.Unmarshal(tools, &list); err != nil {
		return nil, fmt.Errorf("read the stored list of tools: %w", err)
	}
	specs := make([]hermes.Spec, len(list))
	for i, st := range list {
		specs[i] = hermes.Spec{Name: st.Name, Description: st.Description, Schema: st.Schema}
	}
	return specs, nil
}
