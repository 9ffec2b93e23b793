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
// saying what is not known. It then tells whether the last turn was cut off.
// What is run again ends with ctx, which is the one of whoever waits for it.
func (s *Session) recover(ctx context.Context) error {
	open := hermes.OpenCalls(s.transcript)
	if len(open) > 0 {
		if err := s.persist(); err != nil {
			return err
		}
		steps, err := s.cfg.Store.OpenSteps(s.ctx, s.id)
		if err != nil {
			return err
		}
		for _, c := range open {
			m := s.settle(ctx, c, steps)
			m.Turn = s.lastTurn()
			if err := s.store(&m); err != nil {
				return err
			}
		}
	}
	s.cut = s.unanswered()
	return nil
}

// unanswered reports whether the transcript ends before an answer.
func (s *Session) unanswered() bool {
	n := len(s.transcript)
	return n > 0 && s.transcript[n-1].Role != hermes.RoleAssistant
}

// settle finds the result of a call that has none in the transcript.
func (s *Session) settle(ctx context.Context, c hermes.ToolCall, steps []hermes.Step) hermes.Message {
	for _, st := range steps {
		if st.Call.ID != c.ID {
			continue
		}
		if st.Result != nil {
			return *st.Result
		}
		if spec, ok := s.gear.Tools.Spec(c.Name); ok && spec.Effect == hermes.EffectIdempotent {
			return s.rerun(ctx, c)
		}
		return toolMessage(c, failure(outcomeUnknown))
	}
	if spec, ok := s.gear.Tools.Spec(c.Name); ok && spec.EffectOf(json.RawMessage(c.Arguments)) == hermes.EffectNone {
		return s.rerun(ctx, c)
	}
	return toolMessage(c, failure(neverBegun))
}

func (s *Session) rerun(waits context.Context, c hermes.ToolCall) hermes.Message {
	ctx, cancel := context.WithTimeout(s.ctx, rerunTime)
	defer cancel()
	defer context.AfterFunc(waits, cancel)() // Ctrl+C need not wait for it
	if s.told != nil {
		s.told(fmt.Sprintf("%s was cut off and is run again; this may take up to %v", c.Name, rerunTime))
	}
	ref := s.ref(s.lastTurn())
	h := &host{tools: &tools{session: s, box: s.gear.Tools, ref: ref, mark: &mark{from: ref.Outside}}}
	call := &hermes.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments), Host: h}
	return toolMessage(c, h.run(ctx, call, h))
}

func toolMessage(c hermes.ToolCall, r hermes.Result) hermes.Message {
	return hermes.Message{
		Role: hermes.RoleTool, CallID: c.ID, ToolName: c.Name, Failed: r.Failed, Outside: r.Outside, Parts: []hermes.Part{{Text: r.Text}},
	}
}
