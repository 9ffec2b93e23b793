package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"hermes"
)

// tools is the session's toolbox for the loop. It gives each call a host, and
// writes a call that must not be repeated to the journal before and after its
// run. The goroutines of a turn use it; it does not touch the actor's state.
type tools struct {
	hermes.Tools // of the runtime
	session      *Session
	ref          hermes.SessionRef
	taint        *taint          // of the session; it grows with each result
	begun        map[string]bool // calls in the journal since an earlier turn
	asking       asking
}

func (t *tools) lease() hermes.Lease { return *t.session.sharedLease.Load() }

func (t *tools) journal() hermes.Journal { return t.session.cfg.Store }

func (t *tools) host(c hermes.ToolCall, progress func(string)) hermes.Host {
	return &host{tools: t, progress: progress, id: c.ID}
}

// Run runs a call through the tool chain. A call with an effect is in the
// journal before it runs, and its result as soon as it is known. A call whose
// question is open when the turn ends gets no result: it is parked.
func (t *tools) Run(ctx context.Context, call *hermes.Call) hermes.Result {
	h := call.Host.(*host)
	c := hermes.ToolCall{ID: call.ID, Name: call.Name, Arguments: string(call.Arguments)}
	spec, known := t.Spec(c.Name)
	effect := spec.EffectOf(call.Arguments)
	if !known || effect == hermes.EffectNone {
		return t.run(ctx, call, h)
	}
	stored := context.WithoutCancel(ctx)
	if !t.begun[c.ID] {
		if err := t.journal().BeginCall(stored, t.lease(), c); err != nil {
			return hermes.ErrorResult(fmt.Sprintf("not run: the call could not be recorded (%v)", err))
		}
	}
	h.journaled, h.asks = true, effect == hermes.EffectAsk
	t.asking.set(c.ID, h.asks)
	r := t.run(ctx, call, h)
	if h.asks && r.Failed && ctx.Err() != nil {
		return r // the question stays open
	}
	t.asking.set(c.ID, false)
	if err := t.journal().EndCall(stored, t.lease(), c.ID, toolMessage(c, r)); err != nil {
		t.session.cfg.Log.Warn("record the end of a call", "session", t.ref.ID, "call", c.ID, "err", err)
	}
	return r
}

// FinishBatch passes all results of a batch to the toolbox.
func (t *tools) FinishBatch(ctx context.Context, calls []*hermes.Call, results []*hermes.Result) {
	if f, ok := t.Tools.(hermes.BatchFinisher); ok {
		f.FinishBatch(ctx, calls, results)
	}
}

// TurnStarted tells the toolbox that a turn begins.
func (t *tools) TurnStarted() {
	if s, ok := t.Tools.(hermes.TurnStarter); ok {
		s.TurnStarted()
	}
}

// host is the [hermes.Host] of one call.
type host struct {
	*tools
	progress      func(string)
	callTaint     taint       // from other tools and child sessions that the call ran
	id            string      // of the call
	journaled     bool        // it is in the journal
	asks          bool        // it only asks: its questions stay open after the turn
	approvalAsked atomic.Bool // approval was requested
}

// Session returns the current provenance, which may have grown since the call
// began.
func (h *host) Session() hermes.SessionRef {
	ref := h.ref
	ref.Provenance = h.taint.text()
	return ref
}

func (h *host) Environment() hermes.Environment { return h.session.environment }

func (h *host) Progress(text string) {
	if h.progress != nil {
		h.progress(text)
	}
}

func (h *host) Invoke(ctx context.Context, name string, arguments json.RawMessage) (hermes.Result, error) {
	if _, ok := h.Spec(name); !ok {
		return hermes.Result{}, fmt.Errorf("tool %q: %w", name, hermes.ErrNotFound)
	}
	r := h.Tools.Run(ctx, &hermes.Call{ID: "invoke_" + name, Name: name, Arguments: arguments, Host: h})
	h.taintedBy(r.Provenance)
	return r, nil
}

func (h *host) Spawn(ctx context.Context, t hermes.Task) (hermes.Report, error) {
	r, err := h.session.manager.spawn(ctx, h.Session(), h.session.runSpec, t)
	h.taintedBy(r.Provenance)
	return r, err
}

func (h *host) Approve(ctx context.Context, a hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	q := newQuestion(hermes.Asked{Approval: &a})
	if h.journaled && a.CallID == h.id && !h.approvalAsked.Swap(true) {
		q.call = h.id // the call asks for approval first: nothing has run so far
	}
	r, err := h.session.askUser(ctx, q, h.session.cfg.AskTimeout)
	switch {
	case errors.Is(err, errUnattended):
		return hermes.ApprovalAnswer{Decision: h.unattended(a)}, nil
	case errors.Is(err, errNoAnswer):
		return hermes.ApprovalAnswer{Decision: hermes.TimedOut}, nil
	case err != nil:
		return hermes.ApprovalAnswer{Decision: hermes.Deny}, err
	}
	return r.Approval, nil
}

// unattended is the decision where there is no user to ask. Every risk of the call
// must be allowed.
func (h *host) unattended(a hermes.ApprovalRequest) hermes.Decision {
	allowed := h.session.runtime.Unattended
	if allowed == nil || h.ref.Depth > 0 || len(a.Risks) == 0 {
		return hermes.Unattended
	}
	why := make([]string, len(a.Risks))
	for i, r := range a.Risks {
		if !allowed(r) {
			return hermes.Unattended
		}
		why[i] = r.Reason
	}
	text := fmt.Sprintf("%s was allowed without asking, as configured: %s", a.Tool, strings.Join(why, "; "))
	h.session.cfg.Log.Warn(text, "session", h.ref.ID, "call", a.CallID)
	h.session.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: text})
	return hermes.AllowOnce
}

func (h *host) Ask(ctx context.Context, q hermes.Question) (hermes.Answer, error) {
	asked := newQuestion(hermes.Asked{Question: &q})
	if h.asks && !q.Secret {
		asked.call = h.id
	}
	r, err := h.session.askUser(ctx, asked, h.session.cfg.QuestionTimeout)
	if errors.Is(err, errNoAnswer) {
		return hermes.Answer{TimedOut: true}, nil
	}
	return r.Answer, err
}
