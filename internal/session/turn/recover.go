package turn

import (
	"context"
	"encoding/json"
	"slices"

	"hermes"
)

// The results of calls whose own result a crash lost, for the model.
const (
	outcomeUnknown = "the process stopped while this ran; its outcome is unknown, check before repeating it"
	neverBegun     = "the process stopped before this ran; nothing was done, call it again if you still need it"
)

// Left returns a result for a call that an earlier process began and that could go on, but that the
// user does not want to continue.
type Left func(c hermes.ToolCall) hermes.Result

// Again runs a call again that an earlier process did not finish. begun says that the
// journal has it.
type Again func(c hermes.ToolCall, begun bool) hermes.Message

// CloseCalls adds results for the calls that have none: the recorded result, the result
// of running a read-only call again, or a text that says what is unknown. If asking is
// set, questions to the user stay open, and calls that can go on, with the calls after them. If again is
// nil, no call runs again. Where calls that can go on do not stay open, left has their results.
func (r *Record) CloseCalls(ctx context.Context, tools hermes.Tools, asking bool, again Again, left Left) error {
	open := hermes.OpenCalls(r.messages)
	if len(open) == 0 {
		return nil
	}
	if err := r.Persist(ctx); err != nil {
		return err
	}
	steps, err := r.store.OpenSteps(ctx, r.Row.ID)
	if err != nil {
		return err
	}
	turn, waits := r.LastTurn(), false
	for _, c := range open {
		st := stepOf(steps, c)
		ask := asksOnly(tools, c) && (st == nil || st.Result == nil)
		resumes := st != nil && st.Result == nil && !st.Pending.AwaitingApproval && effectOf(tools, c) == hermes.EffectResumes
		waits = waits || asking && (ask || resumes)
		var m hermes.Message
		switch {
		case waits && (ask || resumes || st == nil):
			continue
		case resumes && left != nil:
			m = hermes.ToolMessage(c, left(c))
		case ask && st == nil:
			m = hermes.ToolMessage(c, notAnswered(hermes.PendingCall{}))
		default:
			m = r.resultOf(tools, c, st, again)
		}
		m.Turn = turn
		if err := r.Append(ctx, &m, hermes.Change{}); err != nil {
			return err
		}
	}
	return nil
}

// OpenCalls returns what the journal has of the calls that have no result yet.
func (r *Record) OpenCalls(ctx context.Context) ([]hermes.Step, error) {
	open := hermes.OpenCalls(r.messages)
	if len(open) == 0 {
		return nil, nil
	}
	steps, err := r.store.OpenSteps(ctx, r.Row.ID)
	if err != nil {
		return nil, err
	}
	var begun []hermes.Step
	for _, c := range open {
		if st := stepOf(steps, c); st != nil {
			begun = append(begun, *st)
		}
	}
	return begun, nil
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

// Asks reports whether one of the calls that have no result only asks the user.
func (r *Record) Asks(tools hermes.Tools) bool {
	return slices.ContainsFunc(hermes.OpenCalls(r.messages), func(c hermes.ToolCall) bool { return asksOnly(tools, c) })
}

// asksOnly reports whether a call only asks the user.
func asksOnly(tools hermes.Tools, c hermes.ToolCall) bool {
	return effectOf(tools, c) == hermes.EffectAsk
}

// effectOf returns the effect of the tool of a call.
func effectOf(tools hermes.Tools, c hermes.ToolCall) hermes.Effect {
	spec, _ := tools.Spec(c.Forwarded().Name)
	return spec.Effect
}

// resultOf returns a result for a call that has none in the transcript.
func (r *Record) resultOf(tools hermes.Tools, c hermes.ToolCall, st *hermes.Step, again Again) hermes.Message {
	forwarded := c.Forwarded()
	spec, known := tools.Spec(forwarded.Name)
	switch {
	case st != nil && st.Result != nil:
		return *st.Result
	case st != nil && st.Pending.AwaitingApproval:
		return hermes.ToolMessage(c, hermes.ErrorResult(neverBegun))
	case st != nil && (len(st.Pending.Answers) > 0 || known && spec.Effect == hermes.EffectAsk):
		return hermes.ToolMessage(c, notAnswered(st.Pending))
	case st != nil && again != nil && known && spec.Effect == hermes.EffectIdempotent:
		return again(c, true)
	case st != nil:
		return hermes.ToolMessage(c, hermes.ErrorResult(outcomeUnknown))
	case hermes.CutCalls(r.messages):
		return hermes.ToolMessage(c, hermes.ErrorResult(neverBegun)) // it may not be whole
	case again != nil && known && spec.EffectOf(json.RawMessage(forwarded.Arguments)) == hermes.EffectNone:
		return again(c, false)
	}
	return hermes.ToolMessage(c, hermes.ErrorResult(neverBegun))
}

// notAnswered returns the result of a call whose questions the user did not
// answer, with the answers given before.
func notAnswered(h hermes.PendingCall) hermes.Result {
	type answer struct {
		Question string   `json:"question"`
		Answer   []string `json:"answer"`
	}
	var out struct {
		Answers []answer `json:"answers,omitempty"`
		Note    string   `json:"note"`
	}
	for _, x := range h.Answers {
		if x.Answer != nil {
			out.Answers = append(out.Answers, answer{x.Question.Text, append([]string{}, x.Answer.Texts...)})
		}
	}
	out.Note = "The user did not answer this; what they said instead comes next. Take it as the answer if it is one."
	if len(out.Answers) > 0 {
		out.Note = "The user answered only this much; what they said instead comes next."
	}
	r, err := hermes.JSONResult(out)
	if err != nil { // texts always have a JSON form
		r.Text = out.Note
	}
	return r
}
