package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"hermes"
)

// compact stores the result of a context engine and only then makes it the
// transcript.
func (s *Session) compact(f hermes.CompactResult) error {
	kept := map[int]bool{}
	var c hermes.Compaction
	for i, o := range f.From {
		if o.Same {
			kept[o.Index] = true
			continue
		}
		m := f.Messages[i]
		m.ID, m.Usage = 0, nil // the usage was that of another text
		if m.Time.IsZero() {
			m.Time = s.cfg.Now()
		}
		c.Insert = append(c.Insert, hermes.Insertion{At: s.transcript[o.Index].ID, Message: m})
	}
	var hidden []hermes.Message
	for i, m := range s.transcript {
		if !kept[i] {
			c.Hide, hidden = append(c.Hide, m.ID), append(hidden, m)
		}
	}
	inheritProvenance(c.Insert, hidden)
	ids, err := s.cfg.Store.Compact(context.WithoutCancel(s.ctx), s.lease, c)
	if err != nil {
		return s.writeFailed(err)
	}
	s.takeOver(f, c.Insert, ids)
	return nil
}

// takeOver makes the shortened transcript the session's transcript.
func (s *Session) takeOver(f hermes.CompactResult, inserted []hermes.Insertion, ids []int64) {
	transcript := make([]hermes.Message, len(f.Messages))
	for i, o := range f.From {
		if o.Same {
			transcript[i] = s.transcript[o.Index]
			continue
		}
		transcript[i] = inserted[0].Message
		transcript[i].ID = ids[0]
		inserted, ids = inserted[1:], ids[1:]
	}
	s.transcript = transcript
	s.last, s.counted = hermes.Usage{}, 0
	if s.runtime.Compacted != nil {
		s.runtime.Compacted()
	}
	s.runtime.Hooks.Compacted(s.ctx, s.ref(s.lastTurn()))
}

// restoreFrom is how many original messages a shortened session is restored
// from.
const restoreFrom = 2000

// restore passes the stored transcript to parts that keep state. Messages that
// a compression hid count too.
func (s *Session) restore() error {
	if s.runtime.Restore == nil {
		return nil
	}
	if shortened(s.transcript) {
		all, err := s.cfg.Store.Messages(s.ctx, s.id, hermes.Range{Raw: true, Last: restoreFrom})
		if err != nil {
			return err
		}
		s.runtime.Restore(all)
	}
	s.runtime.Restore(s.transcript)
	return nil
}

// shortened reports whether a message comes before an older one, as a summary
// does.
func shortened(transcript []hermes.Message) bool {
	for i := range len(transcript) - 1 {
		if transcript[i].ID > transcript[i+1].ID {
			return true
		}
	}
	return false
}

// lastCount returns the newest usage that a provider reported for the current
// transcript, and how many messages it covers. A usage from before the
// transcript was shortened is ignored.
func lastCount(transcript []hermes.Message) (hermes.Usage, int) {
	for i, m := range slices.Backward(transcript) {
		if m.Usage == nil {
			continue
		}
		if slices.ContainsFunc(transcript[:i], func(e hermes.Message) bool { return e.ID > m.ID }) {
			break
		}
		return *m.Usage, i + 1
	}
	return hermes.Usage{}, 0
}

// usage says how full the window of the session's model is.
func (s *Session) usage() hermes.ContextUsage {
	p := hermes.ContextUsage{
		Model: s.row.Model, Counted: s.counted,
		Used: int((s.last.Prompt() + s.last.Output) / max(s.last.Calls, 1)), // failed attempts had the same prompt
	}
	if s.runtime.Window != nil {
		p.Window = s.runtime.Window(s.row.Model)
	}
	return p
}

// compress shortens the transcript because the user asked for it. It runs as a
// turn, so that it can be stopped.
func (s *Session) compress(op Compress) error {
	switch {
	case s.turn != nil:
		return errors.New("a turn is running; stop it first with /stop, or wait until it ends")
	case s.waiting():
		return errors.New("a question waits for your answer; use /continue to see it again")
	case s.runtime == nil || s.runtime.Context == nil || len(s.transcript) == 0:
		return errors.New("there is nothing to compress yet")
	}
	s.jobs.Busy()
	p := s.usage()
	p.Demand, p.Focus, p.Keep = true, op.Topic, op.Keep
	ctx, cancel := context.WithCancelCause(s.ctx)
	t := &turn{number: s.lastTurn(), cancel: cancel, began: s.cfg.Now(), events: make(chan turnEvent, 8)}
	t.calls = s.newCalls(s.ref(t.number), nil)
	s.turn = t
	go t.compress(ctx, s.runtime.Hooks.Engine(s.runtime.Context, t.calls.ref), s.transcript, p, s.cfg.Now)
	return nil
}

// compress runs the engine and sends its result to the actor as the events of
// a turn.
func (t *turn) compress(ctx context.Context, engine hermes.ContextEngine, transcript []hermes.Message, p hermes.ContextUsage, now func() time.Time) {
	defer t.cancel(nil)
	// Sent from here and not by the caller, so that it comes before the outcome.
	t.events <- turnEvent{event: hermes.Notice{Level: hermes.NoticeInfo, Text: "Compressing the conversation. Use /stop to cancel."}}
	done := hermes.TurnDone{Turn: t.number, Outcome: hermes.OutcomeDone}
	f, err := engine.Fit(ctx, transcript, p)
	switch {
	case ctx.Err() != nil:
		done.Outcome = hermes.OutcomeInterrupted
	case err != nil:
		done.Outcome, done.Err = hermes.OutcomeFailed, err
	case f.From == nil:
		done.Text = cmp.Or(f.Note, "The conversation is too short to compress.")
	default:
		te := turnEvent{event: hermes.Compacted{CompactResult: f, Note: f.Note}, ack: make(chan error, 1)}
		t.events <- te
		if err := <-te.ack; err != nil {
			done.Outcome, done.Err = hermes.OutcomeFailed, err
		}
		done.Text = f.Note
	}
	done.Duration = now().Sub(t.began)
	t.events <- turnEvent{event: done}
	t.events <- turnEvent{ended: true}
}
