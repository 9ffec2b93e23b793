package session

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/session/turn"
)

// begin prepares a turn with a message, which takes the waiting ones of these ids; without a
// message the turn goes on with the transcript as it is. A message with an id takes the place of
// the one that has it, and of all that came after it. reply gets an error when the message is
// stored, or why it is not.
func (s *Session) begin(m *hermes.Message, from hermes.From, reply func(error), take ...int64) {
	if err := s.cfg.halted(); err != nil {
		reply(err)
		return
	}
	if s.halt.held = false; m == nil || !m.Synthetic {
		s.askedFor()
	}
	s.jobs.Busy()
	p := s.prepare(m)
	p.from, s.said.by = from, from
	t := turn.New(s.ctx, p.ref.Turn, s.cfg.Now())
	s.turn, s.cut = t, false
	go func() { // ends with the session's prepared, which the session waits for
		err := p.make(t.Context())
		s.post(context.WithoutCancel(s.ctx), func() { s.prepared(t, p, err, reply, take) })
	}()
}

// prepared starts the turn, or says why it cannot start. Then come the ops that waited for it.
func (s *Session) prepared(t *turn.Turn, p *preparation, err error, reply func(error), take []int64) {
	if taken := s.adopt(p); err == nil {
		err = taken
	}
	if ctx := t.Context(); ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = s.start(t, p, take)
	}
	if err != nil {
		t.Stop(err)
		s.turn = nil
		s.cut = s.record.Unanswered() || s.waiting()
		s.jobs.Rest(nil)
	}
	reply(err)
	s.handleDeferred()
}

// handleDeferred handles the ops that waited for a turn to be prepared.
func (s *Session) handleDeferred() {
	waited := s.deferred
	s.deferred = nil
	for _, e := range waited {
		if s.ending() {
			s.refuse(e)
			continue
		}
		s.handle(e)
	}
}

// start stores the message and runs the loop.
func (s *Session) start(t *turn.Turn, p *preparation, take []int64) error {
	if err := s.cfg.halted(); err != nil { // set while the turn was prepared
		return err
	}
	if err := s.record.Persist(s.ctx); err != nil {
		return err
	}
	s.feed.renumber(s.record.Lease().Fence)
	s.configured()
	if m := p.message; m != nil {
		if p.replaces != 0 {
			if err := s.rewind(p.replaces); err != nil {
				return err
			}
		}
		if err := s.record.CloseCalls(s.ctx, s.runtime.Tools, false, nil, s.leftChildren); err != nil {
			return s.writeFailed(err)
		}
		if err := s.record.CloseUnanswered(s.ctx); err != nil {
			return s.writeFailed(err)
		}
		if err := s.record.Append(s.ctx, m, hermes.Change{TakeWaiting: take}); err != nil {
			return s.writeFailed(err)
		}
		s.taken(take)
		s.publish(hermes.TurnStarted{Turn: m.Turn, Message: *m, From: p.from})
	}
	s.mode.client.Store(fromClient(s.record.Messages()) || s.run.Origin.Depth > 0 && hermes.FromClient(s.run.Origin.Provenance))
	ref := s.ref(t.Number) // with what the message brought
	budget := s.budget.Child(s.steps())
	calls, err := s.newCalls(ref, budget)
	if err != nil {
		return err
	}
	work := s.work(ref, calls)
	work.Budget = budget
	t.Run(work, calls)
	return nil
}

// newCalls returns the hosts for the calls of a turn, with what the journal has of those that are
// open.
func (s *Session) newCalls(ref hermes.SessionRef, budget *agent.Budget) (*turn.Calls, error) {
	steps, err := s.record.OpenCalls(s.ctx)
	if err != nil {
		return nil, err
	}
	s.questions.load(steps)
	ids := make([]string, len(steps))
	for i, st := range steps {
		ids[i] = st.Call.ID
	}
	calls := turn.NewCalls(s.lent(budget), ref, ids...)
	calls.Asking(ids...)
	return calls, nil
}

// lent is what the calls of a turn use. The steps of its child sessions count on the budget.
func (s *Session) lent(budget *agent.Budget) turn.Lent {
	return turn.Lent{
		Session: lender{s, s.run, s.runtime.Tools, s.runtime.Hooks, budget}, Record: s.record, Tools: s.runtime.Tools, Offered: s.specs, Hooks: s.runtime.Hooks,
		KnowsHost:   turn.KnownHosts(s.cfg.KnownHost, s.record.Messages(), s.run.Origin.Depth > 0),
		Environment: s.runtime.Environment, Unattended: s.runtime.Unattended, Halted: s.cfg.Halted, Answers: lastOfUser(s.record.Messages()), Log: s.cfg.Log,
	}
}

// lastOfUser returns the id of the newest message that begins a turn, 0 without one.
func lastOfUser(list []hermes.Message) int64 {
	for _, m := range slices.Backward(list) {
		if m.Role == hermes.RoleUser {
			return m.ID
		}
	}
	return 0
}

// work is what the loop runs on.
func (s *Session) work(ref hermes.SessionRef, calls *turn.Calls) agent.Turn {
	model, hooks, row := s.nextModel(), s.runtime.Hooks, &s.record.Row
	work := agent.Turn{
		Model: model,
		Tools: s.runtime.Tools,
		Request: hermes.Request{
			System: row.System, Tools: s.specs, Session: row.ID,
			Effort: s.effortOf(model.ID()), MaxTokens: cmp.Or(s.run.Model.MaxTokens, s.cfg.MaxTokens), Temperature: s.run.Model.Temperature,
			Attended: s.attended(),
		},
		Transcript: s.record.Messages(), Number: ref.Turn, Context: hooks.Engine(s.runtime.Context, ref),
		Last: s.record.Last, Counted: s.record.Counted,
		Now: s.cfg.Now,
		End: func(ctx context.Context, o hermes.Outcome, turn []hermes.Message) string {
			goOn := hooks.TurnEnd(ctx, calls.Now(), o, turn)
			if goOn == "" && s.misfit != nil && o == hermes.OutcomeDone {
				if wrong := s.misfit(lastText(turn)); wrong != "" {
					goOn = "Your answer cannot be used: " + wrong + ". Answer again with one JSON value that fits the schema of your task, and nothing else."
				}
			}
			return goOn
		},
	}
	if confirm := s.runtime.Confirm; confirm != nil {
		work.Confirm = func(ctx context.Context, answer string, transcript []hermes.Message) []hermes.Unconfirmed {
			return confirm(ctx, calls.Now(), answer, transcript)
		}
	}
	if window := s.runtime.Window; window != nil {
		work.Window = func() int { return window(model.ID()) }
	}
	if s.runtime.Memory != nil {
		work.Model = turn.Scrubbed{Model: model}
	}
	work.Model = turn.Guard(work.Model, calls)
	work.Model = hooks.Model(work.Model, ref)
	return work
}

// turnEvents returns the events of the running turn. Without a turn it returns
// nil, which blocks forever.
func (s *Session) turnEvents() <-chan turn.Event {
	if s.turn == nil {
		return nil
	}
	return s.turn.Events()
}

// take handles one event of the turn, and its end.
func (s *Session) take(e turn.Event) {
	if s.turn.Take(s.record, e, s.happened) {
		s.endTurn()
	}
}

// happened publishes what a turn has stored.
func (s *Session) happened(e hermes.Event) {
	switch d := e.(type) {
	case hermes.Compacted:
		s.compacted()
	case hermes.UsageUpdated:
		if cost := s.cfg.Children.Cost; cost != nil && s.parent != nil {
			d.Cost = cost(s.ctx, s.id)
			e = d
		}
	case hermes.StepStarted, hermes.CallStarted: // no message of `hermes panic` may have come through
		if s.turn != nil && !s.halt.held && s.cfg.halted() != nil {
			s.haltNow()
		}
	}
	s.publish(e)
}

// compacted tells the runtime that the transcript was shortened.
func (s *Session) compacted() {
	if s.runtime.Follower != nil {
		s.runtime.Follower.Rewritten("compression")
	}
	s.runtime.Hooks.Compacted(s.ctx, s.ref(s.record.LastTurn()))
}

// endTurn records and publishes the outcome of a turn, starts its jobs, and
// begins the next turn in the queue.
func (s *Session) endTurn() {
	t := s.turn
	s.turn = nil
	s.dropAll()
	done, broken := t.Done(s.cfg.Now())
	switch {
	case errors.Is(broken, turn.ErrParked):
		if len(s.queue) == 0 {
			s.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: stillOpen})
		}
	case broken != nil:
		done.Outcome, done.Failure = hermes.OutcomeFailed, hermes.FailureOf(s.writeFailed(broken))
	}
	if !t.Compression { // that is no exchange
		s.cut = done.Outcome == hermes.OutcomeFailed && s.record.Unanswered() || s.waiting()
		s.answered = done.Outcome == hermes.OutcomeDone || s.answered && done.Outcome == hermes.OutcomeInterrupted
	}
	if err := s.record.AddUsage(s.ctx, t.Unstored(done.Usage)); err != nil {
		s.cfg.Log.Warn("store the usage", "session", s.id, "err", err)
	}
	if rest := t.Note.Rest(); len(rest.IDs) > 0 { // it came after the last batch
		s.queue = slices.Insert(s.queue, 0, rest)
	}
	s.configured()
	s.publish(done)
	if s.over != nil {
		s.over <- done // a child has one turn
		s.over = nil
	}
	if t.Compression {
		s.jobs.Rest(nil)
	} else {
		s.jobs.Rest(&done)
	}
	s.next()
}

// stillOpen is the notice for a question that was not answered.
const stillOpen = "The question stays open. Use /continue to see it again; any other message drops it."
