package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/hook"
)

// calls is what the calls of a turn share. The goroutines of a turn use it; it does
// not touch the actor's state.
type calls struct {
	session *Session
	tools   hermes.Tools
	hooks   *hook.Hooks
	ref     hermes.SessionRef
	taint   *agent.Taint // of the session; it grows with each result
	budget  *agent.Budget
	begun   map[string]bool // calls in the journal since an earlier turn
	asking  asking
}

func (s *Session) newCalls(ref hermes.SessionRef, begun map[string]bool) *calls {
	return &calls{session: s, tools: s.runtime.Tools, hooks: s.runtime.Hooks, ref: ref, taint: agent.NewTaint(ref.Provenance), budget: agent.NewBudget(s.steps()), begun: begun}
}

// host returns the host of one call.
func (t *calls) host(c hermes.ToolCall, r *agent.Running) hermes.Host {
	return &host{calls: t, Running: r, call: c}
}

func (t *calls) lease() hermes.Lease     { return *t.session.sharedLease.Load() }
func (t *calls) journal() hermes.Journal { return t.session.cfg.Store }

// host is the [hermes.Host] of one call.
type host struct {
	*calls
	*agent.Running
	callTaint     agent.Taint // from other tools and child sessions that the call ran
	call          hermes.ToolCall
	journaled     bool        // it is in the journal
	asks          bool        // it only asks: its questions stay open after the turn
	approvalAsked atomic.Bool // approval was requested
}

// BeginCall writes a call to the journal, unless an earlier turn has begun it.
func (h *host) BeginCall(ctx context.Context, c hermes.ToolCall) error {
	if !h.begun[c.ID] {
		if err := h.journal().BeginCall(context.WithoutCancel(ctx), h.lease(), c); err != nil {
			return err
		}
	}
	spec, _ := h.tools.Spec(c.Name)
	h.journaled, h.asks = true, spec.Effect == hermes.EffectAsk && !h.Invoked()
	h.asking.set(c.ID, h.asks)
	return nil
}

// EndCall writes the result of a call to the journal. A call whose question is open
// when the turn ends gets no result: it is parked.
func (h *host) EndCall(ctx context.Context, c hermes.ToolCall, r hermes.Result) error {
	if h.asks && r.Failed && ctx.Err() != nil {
		return nil
	}
	h.asking.set(c.ID, false)
	r.Provenance = hermes.AddProvenance(h.callTaint.String(), r.Provenance)
	return h.journal().EndCall(context.WithoutCancel(ctx), h.lease(), c.ID, hermes.ToolMessage(h.call, r))
}

// now returns the session with its current provenance, which grows during a turn.
func (t *calls) now() hermes.SessionRef {
	ref := t.ref
	ref.Provenance = t.taint.String()
	return ref
}

func (h *host) Session() hermes.SessionRef { return h.now() }

func (h *host) Environment() hermes.Environment { return h.session.environment }

func (h *host) Invoke(ctx context.Context, name string, arguments json.RawMessage) (hermes.Result, error) {
	r, err := h.Running.Invoke(ctx, name, arguments)
	h.callTaint.Add(r.Provenance)
	return r, err
}

func (h *host) Spawn(ctx context.Context, t hermes.Task) (hermes.Report, error) {
	parent := h.Session()
	run, err := h.childRun(parent, t)
	if err != nil {
		return hermes.Report{}, err
	}
	if err := h.hooks.ChildStart(ctx, parent, t); err != nil {
		return hermes.Report{}, err
	}
	r, err := h.session.manager.spawn(ctx, run, t)
	h.callTaint.Add(r.Provenance)
	h.taint.Add(r.Provenance)
	h.hooks.ChildEnd(ctx, parent, r)
	return r, err
}

func (h *host) Approve(ctx context.Context, a hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	q := newQuestion(hermes.Asked{Approval: &a})
	if h.journaled && a.CallID == h.call.ID && !h.approvalAsked.Swap(true) {
		q.call = h.call.ID // the call asks for approval first: nothing has run so far
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
		asked.call = h.call.ID
	}
	r, err := h.session.askUser(ctx, asked, h.session.cfg.QuestionTimeout)
	if errors.Is(err, errNoAnswer) {
		return hermes.Answer{TimedOut: true}, nil
	}
	return r.Answer, err
}
