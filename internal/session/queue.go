package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/session/turn"
	"hermes/internal/text"
)

// maxQueue is how many messages may wait for the end of a turn.
const maxQueue = 100

// storeWaiting stores a message before anybody is told that it waits.
func (s *Session) storeWaiting(m hermes.Message, from hermes.From, urgent bool) (turn.Queued, error) {
	id, err := s.cfg.Store.AddWaiting(context.WithoutCancel(s.ctx), s.record.Lease(), hermes.WaitingMessage{Message: m, Urgent: urgent})
	if errors.Is(err, hermes.ErrStaleLease) {
		s.lost()
	}
	if err != nil {
		return turn.Queued{}, fmt.Errorf("the message could not be stored, so it does not wait: %w", err)
	}
	return turn.Queued{IDs: []int64{id}, Message: m, From: from}, nil
}

// enqueue makes a message wait for the end of the turn.
func (s *Session) enqueue(m hermes.Message, from hermes.From) error {
	if len(s.queue) >= maxQueue {
		return fmt.Errorf("%d messages are already waiting; wait for an answer or stop the turn with /stop", maxQueue)
	}
	q, err := s.storeWaiting(m, from, false)
	if err != nil {
		return err
	}
	s.queue = append(s.queue, q)
	s.publishQueue()
	return nil
}

// maxQueuedText is how much of a waiting message frontends are shown, in cells.
const maxQueuedText = 500

// publishQueue tells what waits.
func (s *Session) publishQueue() {
	var e hermes.Queued
	for _, q := range s.queue {
		e.Messages = append(e.Messages, hermes.QueuedMessage{Text: text.Clip(q.Message.Visible(), maxQueuedText), From: q.From})
	}
	s.publish(e)
}

// loadQueue reads the messages that waited when an earlier process ended.
func (s *Session) loadQueue() error {
	list, err := s.cfg.Store.WaitingMessages(s.ctx, s.id)
	for _, w := range list {
		s.queue = append(s.queue, turn.Queued{IDs: []int64{w.ID}, Message: w.Message})
	}
	if len(s.queue) > 0 {
		s.publishQueue()
	}
	return err
}

// dropQueue deletes everything that waits, notes for the turn included, but not the results of child
// sessions. Those wait until a turn is asked for.
func (s *Session) dropQueue() error {
	var ids []int64
	var kept []turn.Queued
	for _, q := range s.queue {
		if isResult(q.Message) {
			q.Held = true
			kept = append(kept, q)
			continue
		}
		ids = append(ids, q.IDs...)
	}
	if s.turn != nil {
		ids = append(ids, s.turn.Note.Rest().IDs...)
	}
	s.queue = kept
	s.publishQueue()
	return s.dropWaiting(ids)
}

// taken removes stored messages from the queue that are in the transcript now.
func (s *Session) taken(ids []int64) {
	n := len(s.queue)
	s.queue = slices.DeleteFunc(s.queue, func(q turn.Queued) bool { return slices.Contains(ids, q.IDs[0]) })
	if len(s.queue) < n {
		s.publishQueue()
	}
}

// dropWaiting deletes stored messages that will not be answered.
func (s *Session) dropWaiting(ids []int64) error {
	s.taken(ids)
	if len(ids) == 0 {
		return nil
	}
	return s.cfg.Store.DropWaiting(context.WithoutCancel(s.ctx), s.record.Lease(), ids...)
}

// withWaiting puts the user's messages that wait, although no turn runs, before
// a new one: an earlier process did not get to them. What the program sent
// still gets a turn of its own.
func (s *Session) withWaiting(m hermes.Message) (hermes.Message, []int64) {
	var ids []int64
	var parts []hermes.Part
	n := 0
	for _, q := range s.queue {
		if q.Message.Synthetic {
			continue
		}
		n++
		ids, parts = append(ids, q.IDs...), append(parts, q.Message.Parts...)
		m.Provenance = hermes.AddProvenance(m.Provenance, q.Message.Provenance)
	}
	if n > 0 {
		m.Parts = append(parts, m.Parts...)
		s.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: text.Plural(n, "message", "messages") + " that waited goes with this one."})
	}
	return m, ids
}

// postpone keeps a result of a child session that a hook refused until a turn is asked for: it is never lost.
func (s *Session) postpone(ids []int64) {
	for i := range s.queue {
		s.queue[i].Held = s.queue[i].Held || slices.Equal(s.queue[i].IDs, ids)
	}
}

// askedFor lets what was held come after the turn that is asked for.
func (s *Session) askedFor() {
	s.halt.held = false
	for i := range s.queue {
		s.queue[i].Held = false
	}
}

// next begins a turn with the first message of the queue that is not held.
func (s *Session) next() {
	i := slices.IndexFunc(s.queue, func(q turn.Queued) bool { return !q.Held })
	if i < 0 || s.ending() || s.halt.held || s.cfg.halted() != nil {
		return // what waits stays stored
	}
	first := s.queue[i]
	if s.waiting() && (first.Message.Synthetic || hermes.FromSession(first.Message.Provenance)) {
		return // it must not drop a question to the user
	}
	s.begin(&first.Message, first.From, func(err error) {
		_, dropped := errors.AsType[refused](err)
		if dropped && isResult(first.Message) {
			dropped = false
			s.postpone(first.IDs)
			defer s.next()
		}
		if dropped { // it must not come again with the next message
			err = errors.Join(err, s.dropWaiting(first.IDs))
		}
		switch done := (hermes.TurnDone{Turn: s.record.LastTurn(), Outcome: hermes.OutcomeInterrupted}); {
		case errors.Is(err, hermes.ErrInterrupted):
			s.publish(done)
		case err != nil:
			done.Outcome, done.Failure = hermes.OutcomeFailed, hermes.FailureOf(err)
			s.publish(done)
		}
		if dropped {
			s.next()
		}
	}, first.IDs...)
}
