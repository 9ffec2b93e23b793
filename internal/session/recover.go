package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/agent"
)

// The results of calls whose own result a crash lost, for the model.
const (
	outcomeUnknown = "the process stopped while this ran; its outcome is unknown, check before repeating it"
	neverBegun     = "the process stopped before this ran; nothing was done, call it again if you still need it"
)

// rerunTime limits a call that runs again when a session is resumed.
const rerunTime = 10 * time.Second

// recover adds results for the calls that an earlier process left open: the
// recorded result, the result of running a read-only call again, or a text
// that says what is unknown. A question to the user stays open, with the calls
// after it, until the user continues or says something else. recover also sets
// whether the last turn was cut off. Calls that run again end with ctx, the
// context of the caller that waits.
func (s *Session) recover(ctx context.Context) error {
	err := s.closeOpenCalls(true, func(c hermes.ToolCall, begun bool) hermes.Message { return s.rerun(ctx, c, begun) })
	s.cut = s.unanswered() || s.waiting()
	return err
}

// closeOpenCalls adds results for the calls that have none. If asking is set,
// questions and the calls after them stay open. again runs a call that may be
// repeated; if it is nil, no call runs again.
func (s *Session) closeOpenCalls(asking bool, again func(c hermes.ToolCall, begun bool) hermes.Message) error {
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
			m = hermes.ToolMessage(c, notAnswered(hermes.PendingCall{}))
		default:
			m = s.resultOf(c, st, again)
		}
		m.Turn = turn
		if err := s.store(&m); err != nil {
			return err
		}
	}
	return nil
}

// unanswered reports whether the transcript ends without an answer.
func (s *Session) unanswered() bool {
	n := len(s.transcript)
	return n > 0 && s.transcript[n-1].Role != hermes.RoleAssistant
}

// stepOf returns the journal's step of a call, or nil if it was not begun.
func stepOf(steps []hermes.Step, c hermes.ToolCall) *hermes.Step {
	for i := range steps {
		if steps[i].Call.ID == c.ID {
			return &steps[i]
		}
	}
	return nil
}

// resultOf returns a result for a call that has none in the transcript.
func (s *Session) resultOf(c hermes.ToolCall, st *hermes.Step, again func(c hermes.ToolCall, begun bool) hermes.Message) hermes.Message {
	spec, known := s.runtime.Tools.Spec(c.Name)
	switch {
	case st != nil && st.Result != nil:
		return *st.Result
	case st != nil && st.Pending.AwaitingApproval:
		return hermes.ToolMessage(c, hermes.ErrorResult(neverBegun))
	case st != nil && (len(st.Pending.Answers) > 0 || known && spec.Effect == hermes.EffectAsk):
		return hermes.ToolMessage(c, notAnswered(st.Pending))
	case st != nil && again != nil && known && spec.Effect == hermes.EffectIdempotent:
		return again(c, st != nil)
	case st != nil:
		return hermes.ToolMessage(c, hermes.ErrorResult(outcomeUnknown))
	case hermes.CutCalls(s.transcript):
		return hermes.ToolMessage(c, hermes.ErrorResult(neverBegun)) // it may not be whole
	case again != nil && known && spec.EffectOf(json.RawMessage(c.Arguments)) == hermes.EffectNone:
		return again(c, st != nil)
	}
	return hermes.ToolMessage(c, hermes.ErrorResult(neverBegun))
}

// rerun runs a call again, which the journal has if it was begun, until it ends, rerunTime is over or waits ends.
func (s *Session) rerun(waits context.Context, c hermes.ToolCall, begun bool) hermes.Message {
	ctx, cancel := context.WithTimeout(s.ctx, rerunTime)
	defer cancel()
	defer context.AfterFunc(waits, cancel)() // Ctrl+C ends it
	if s.notify != nil {
		s.notify(fmt.Sprintf("%s was cut off and runs again; this may take up to %v", c.Name, rerunTime))
	}
	calls := s.newCalls(s.ref(s.lastTurn()), map[string]bool{c.ID: begun})
	return hermes.ToolMessage(c, agent.RunCall(ctx, s.runtime.Tools, calls.host, c))
}
