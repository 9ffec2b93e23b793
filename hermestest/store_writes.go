package hermestest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hermes"
)

// held checks that a lease is the newest one.
func (s *Store) held(l hermes.Lease) (*storedSession, error) {
	r, err := s.byID(l.Session)
	if err != nil {
		return nil, err
	}
	if l.Fence != r.lease.Fence {
		return nil, fmt.Errorf("session %s: %w", l.Session, hermes.ErrStaleLease)
	}
	return r, nil
}

// Commit stores a change of a session.
func (s *Store) Commit(ctx context.Context, l hermes.Lease, c hermes.Change) (done hermes.Committed, err error) {
	err = s.change(ctx, "Commit", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		waiting := slices.Clone(r.waiting)
		for _, id := range c.TakeWaiting {
			i := slices.IndexFunc(waiting, func(w hermes.WaitingMessage) bool { return w.ID == id })
			if i < 0 {
				return fmt.Errorf("waiting message %d: %w", id, hermes.ErrNotFound)
			}
			waiting = slices.Delete(waiting, i, i+1)
		}
		r.waiting = waiting
		for _, m := range c.Append {
			if m.Time.IsZero() {
				m.Time = s.Now()
			}
			s.lastID++
			m.ID = s.lastID
			done.IDs = append(done.IDs, m.ID)
			r.append(m)
		}
		for _, id := range c.EndCalls {
			r.endCall(id)
		}
		r.row.Usage = r.row.Usage.Add(c.Usage)
		return nil
	})
	return done, err
}

// AddWaiting stores a message that waits.
func (s *Store) AddWaiting(ctx context.Context, l hermes.Lease, m hermes.WaitingMessage) (id int64, err error) {
	err = s.change(ctx, "AddWaiting", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		s.lastID++
		m.ID, id = s.lastID, s.lastID
		if m.Urgent {
			r.waiting = slices.Insert(r.waiting, 0, m)
		} else {
			r.waiting = append(r.waiting, m)
		}
		return nil
	})
	return id, err
}

// WaitingMessages returns the messages that wait.
func (s *Store) WaitingMessages(ctx context.Context, session string) (list []hermes.WaitingMessage, err error) {
	err = s.view(ctx, func() error {
		r, err := s.byID(session)
		if err == nil {
			list = slices.Clone(r.waiting)
		}
		return err
	})
	return list, err
}

// DropWaiting deletes waiting messages.
func (s *Store) DropWaiting(ctx context.Context, l hermes.Lease, ids ...int64) error {
	return s.change(ctx, "DropWaiting", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		r.waiting = slices.DeleteFunc(r.waiting, func(w hermes.WaitingMessage) bool { return slices.Contains(ids, w.ID) })
		return nil
	})
}

func (r *storedSession) append(m hermes.Message) {
	m.Parts, m.Calls, m.Reasoning = slices.Clone(m.Parts), slices.Clone(m.Calls), slices.Clone(m.Reasoning)
	r.messages = append(r.messages, storedMessage{Message: m})
	r.row.Messages++
	r.row.Calls += len(m.Calls)
	r.row.Turns = max(r.row.Turns, m.Turn)
	if m.Time.After(r.row.Active) {
		r.row.Active = m.Time
	}
	if m.Role == hermes.RoleTool {
		r.endCall(m.CallID)
	}
}

// endCall removes a call and those that it invoked from the journal.
func (r *storedSession) endCall(id string) {
	r.steps = slices.DeleteFunc(r.steps, func(s storedStep) bool {
		return s.Call.ID == id || strings.HasPrefix(s.Call.ID, id+"/")
	})
}

// Messages returns the transcript, or a part of it, in order.
func (s *Store) Messages(ctx context.Context, session string, f hermes.Range) (list []hermes.Message, err error) {
	err = s.view(ctx, func() error {
		r, err := s.byID(session)
		if err != nil {
			return err
		}
		ordered := slices.Clone(r.messages)
		slices.SortStableFunc(ordered, func(a, b storedMessage) int { return cmp.Compare(a.at(), b.at()) })
		for _, m := range ordered {
			if m.ID > f.After && (f.Before == 0 || m.ID < f.Before) && m.shown(f) {
				list = append(list, m.Message)
			}
		}
		if f.First > 0 {
			list = list[:min(len(list), f.First)]
		}
		if f.Last > 0 {
			list = list[max(0, len(list)-f.Last):]
		}
		return nil
	})
	return list, err
}

// Compact hides messages and inserts others.
func (s *Store) Compact(ctx context.Context, l hermes.Lease, c hermes.Compaction) (ids []int64, err error) {
	err = s.change(ctx, "Compact", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		places := make([]int64, len(c.Insert))
		for i, p := range c.Insert {
			k := slices.IndexFunc(r.messages, func(m storedMessage) bool { return m.ID == p.At })
			if k < 0 {
				return fmt.Errorf("insert at message %d: %w", p.At, hermes.ErrNotFound)
			}
			places[i] = r.messages[k].at()
		}
		for i, m := range r.messages {
			if slices.Contains(c.Hide, m.ID) && !m.hidden {
				r.messages[i].hidden, r.messages[i].compacted = true, true
				r.row.Messages--
				r.row.Calls -= len(m.Calls)
			}
		}
		for i, p := range c.Insert {
			m := p.Message
			if m.Time.IsZero() {
				m.Time = s.Now()
			}
			s.lastID++
			m.ID = s.lastID
			ids = append(ids, m.ID)
			r.append(m)
			r.messages[len(r.messages)-1].position = places[i]
		}
		return nil
	})
	return ids, err
}

// Rewind undoes every message from this id on, and shows those of back again.
func (s *Store) Rewind(ctx context.Context, l hermes.Lease, from int64, back ...int64) error {
	return s.change(ctx, "Rewind", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		var again []int // positions
		for i, m := range r.messages {
			if slices.Contains(back, m.ID) && m.hidden && !m.compacted {
				again = append(again, i)
			}
		}
		if len(again) != len(back) {
			return fmt.Errorf("%d of %d undone messages: %w", len(again), len(back), hermes.ErrNotFound)
		}
		taken, since := false, cmp.Or(from, math.MaxInt64)
		if i := slices.IndexFunc(r.messages, func(m storedMessage) bool { return m.ID == from }); i >= 0 {
			since = r.messages[i].at()
		}
		for i, m := range r.messages {
			if m.at() < since || m.hidden {
				continue
			}
			taken = true
			r.messages[i].hidden = true
			r.row.Messages--
			r.row.Calls -= len(m.Calls)
		}
		if taken {
			r.steps = slices.DeleteFunc(r.steps, func(s storedStep) bool { return s.after >= from })
		}
		for _, i := range again {
			r.messages[i].hidden = false
			r.row.Messages++
			r.row.Calls += len(r.messages[i].Calls)
		}
		return nil
	})
}

// BeginCall records that a call is about to run.
func (s *Store) BeginCall(ctx context.Context, l hermes.Lease, c hermes.ToolCall) error {
	return s.change(ctx, "BeginCall", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		r.steps = slices.DeleteFunc(r.steps, func(s storedStep) bool { return s.Call.ID == c.ID })
		step := storedStep{Step: hermes.Step{Call: c, Begun: s.Now()}}
		if n := len(r.messages); n > 0 {
			step.after = r.messages[n-1].ID
		}
		r.steps = append(r.steps, step)
		return nil
	})
}

// EndCall records the result of a call.
func (s *Store) EndCall(ctx context.Context, l hermes.Lease, callID string, result hermes.Message) error {
	return s.change(ctx, "EndCall", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(r.steps, func(s storedStep) bool { return s.Call.ID == callID })
		if i < 0 {
			return fmt.Errorf("call %s: %w", callID, hermes.ErrNotFound)
		}
		r.steps[i].Result = &result
		return nil
	})
}

// SavePending records what a call waits for from the user.
func (s *Store) SavePending(ctx context.Context, l hermes.Lease, callID string, h hermes.PendingCall) error {
	return s.change(ctx, "SavePending", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(r.steps, func(s storedStep) bool { return s.Call.ID == callID })
		if i < 0 {
			return fmt.Errorf("call %s: %w", callID, hermes.ErrNotFound)
		}
		h.Answers = slices.Clone(h.Answers)
		r.steps[i].Pending = h
		return nil
	})
}

// asking reports whether a question of the session waits for the user.
func (r *storedSession) asking() bool {
	return slices.ContainsFunc(r.steps, func(s storedStep) bool { return s.Result == nil && s.Pending.Open() != nil })
}

// OpenSteps returns the begun calls that no stored message answers.
func (s *Store) OpenSteps(ctx context.Context, session string) (list []hermes.Step, err error) {
	err = s.view(ctx, func() error {
		r, err := s.byID(session)
		if err != nil {
			return err
		}
		for _, step := range r.steps {
			list = append(list, step.Step)
		}
		return nil
	})
	return list, err
}

// Acquire gives the session to the owner.
func (s *Store) Acquire(ctx context.Context, session string, owner hermes.Owner, ttl time.Duration) (l hermes.Lease, err error) {
	err = s.change(ctx, "Acquire", func() error {
		r, err := s.byID(session)
		if err != nil {
			return err
		}
		now, old := s.Now(), r.lease
		other := old.Fence > 0 && old.Owner != owner.Name
		if other && old.Expires.After(now) {
			return fmt.Errorf("session %s: %w (%s)", session, hermes.ErrLeased, old.Owner)
		}
		r.lease = hermes.Lease{Session: session, Owner: owner.Name, Address: owner.Address, Fence: old.Fence + 1, Expires: now.Add(ttl)}
		l = r.lease
		if other && !old.Expires.IsZero() {
			l.Replaced = hermes.Owner{Name: old.Owner, Address: old.Address}
		}
		return nil
	})
	return l, err
}

// Renew extends a lease that is still valid.
func (s *Store) Renew(ctx context.Context, l hermes.Lease, ttl time.Duration) (renewed hermes.Lease, err error) {
	err = s.change(ctx, "Renew", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		now := s.Now()
		if !r.lease.Expires.After(now) {
			return fmt.Errorf("session %s: the lease expired: %w", l.Session, hermes.ErrStaleLease)
		}
		r.lease.Expires = now.Add(ttl)
		renewed = r.lease
		return nil
	})
	return renewed, err
}

// Release ends a lease.
func (s *Store) Release(ctx context.Context, l hermes.Lease) error {
	return s.change(ctx, "Release", func() error {
		r, err := s.byID(l.Session)
		if err == nil && r.lease.Fence == l.Fence {
			r.lease.Expires = time.Time{}
		}
		return err
	})
}

// Leases returns all leases that have not expired.
func (s *Store) Leases(ctx context.Context) (list []hermes.Lease, err error) {
	err = s.view(ctx, func() error {
		for _, r := range s.sessions {
			if r.lease.Expires.After(s.Now()) {
				list = append(list, r.lease)
			}
		}
		slices.SortFunc(list, func(a, b hermes.Lease) int { return cmp.Compare(a.Session, b.Session) })
		return nil
	})
	return list, err
}
