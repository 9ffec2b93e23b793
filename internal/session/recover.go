package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hermes"
)

// What a model reads in place of a result that a crash took away.
const (
	outcomeUnknown = "the process stopped while this ran; its outcome is unknown, check before repeating it"
	neverBegun     = "the process stopped before this ran; nothing was done, call it again if it is still wanted"
)

// rerunTime bounds the calls that are run again when a session comes back.
const rerunTime = 10 * time.Second

// recover answers the calls that an earlier process left open: with the
// result that it still recorded, by running again what only reads, or by
// saying what is not known. A question to the person stays open, with the
// calls behind it, until the person goes on with it or says something else.
// It then tells whether the last turn was cut off. What is run again ends
// with ctx, which is the one of whoever waits for it.
func (s *Session) recover(ctx context.Context) error {
	err := s.settleOpen(true, func(c hermes.ToolCall) hermes.Message { return s.rerun(ctx, c) })
	s.cut = s.unanswered() || s.waiting()
	return err
}

// settleOpen answers the calls that have no result. With asking, questions
// and what was to come after them stay open. again runs a call that may be
// repeated; nil repeats nothing.
func (s *Session) settleOpen(asking bool, again func(hermes.ToolCall) hermes.Message) error {
	open := hermes.OpenCalls(s.transcript)
	if len(open) == 0 {
		return nil
	}
	if err := s.persist(); err != nil {
		return err
	}
	steps, err := s.cfg.Store.OpenSteps(s.ctx, s.id)
	if err != nil {
		return err
	}
	turn, waits := s.lastTurn(), false
	for _, c := range open {
		st := stepOf(steps, c)
		ask := s.asksOnly(c) && (st == nil || st.Result == nil)
		waits = waits || asking && ask
		var m hermes.Message
		switch {
		case waits && (ask || st == nil):
			continue
		case ask && st == nil:
			m = toolMessage(c, notAnswered(hermes.PendingCall{}))
		default:
			m = s.settle(c, st, again)
		}
		m.Turn = turn
		if err := s.store(&m); err != nil {
			return err
		}
	}
	return nil
}

// unanswered reports whether the transcript ends before an answer.
func (s *Session) unanswered() bool {
	n := len(s.transcript)
	return n > 0 && s.transcript[n-1].Role != hermes.RoleAssistant
}

// stepOf is the step of a call in the journal, nil if it was not begun.
func stepOf(steps []hermes.Step, c hermes.ToolCall) *hermes.Step {
	for i := range steps {
		if steps[i].Call.ID == c.ID {
			return &steps[i]
		}
	}
	return nil
}

// settle finds the result of a call that has none in the transcript.
func (s *Session) settle(c hermes.ToolCall, st *hermes.Step, again func(hermes.ToolCall) hermes.Message) hermes.Message {
	spec, known := s.runtime.Tools.Spec(c.Name)
	switch {
	case st != nil && st.Result != nil:
		return *st.Result
	case st != nil && st.Pending.AwaitingApproval:
		return toolMessage(c, failure(neverBegun))
	case st != nil && (len(st.Pending.Answers) > 0 || known && spec.Effect == hermes.EffectAsk):
		return toolMessage(c, notAnswered(st.Pending))
	case st != nil && again != nil && known && spec.Effect == hermes.EffectIdempotent:
		return again(c)
	case st != nil:
		return toolMessage(c, failure(outcomeUnknown))
	case again != nil && known && spec.EffectOf(json.RawMessage(c.Arguments)) == hermes.EffectNone:
		return again(c)
	}
	return toolMessage(c, failure(neverBegun))
}

func (s *Session) rerun(waits context.Context, c hermes.ToolCall) hermes.Message {
	ctx, cancel := context.WithTimeout(s.ctx, rerunTime)
	defer cancel()
	defer context.AfterFunc(waits, cancel)() // Ctrl+C need not wait for it
	if s.notify != nil {
		s.notify(fmt.Sprintf("%s was cut off and is run again; this may take up to %v", c.Name, rerunTime))
	}
	ref := s.ref(s.lastTurn())
	h := &host{tools: &tools{session: s, toolbox: s.runtime.Tools, ref: ref, taint: &taint{from: ref.Provenance}}}
	call := &hermes.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments), Host: h}
	return toolMessage(c, h.run(ctx, call, h))
}

func toolMessage(c hermes.ToolCall, r hermes.Result) hermes.Message {
	return hermes.Message{
		Role: hermes.RoleTool, CallID: c.ID, ToolName: c.Name, Failed: r.Failed, Provenance: r.Provenance, Parts: []hermes.Part{{Text: r.Text}},
	}
}
