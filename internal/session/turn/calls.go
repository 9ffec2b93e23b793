package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/hook"
)

var (
	// ErrUnattended means that no user can be asked.
	ErrUnattended = errors.New("this session is unattended")
	// ErrNoAnswer means that the user did not answer in time.
	ErrNoAnswer = errors.New("the user did not answer in time")
)

// Session is what the calls of a turn use of their session. Its methods may be called
// concurrently.
type Session interface {
	// Ask asks the user and waits for the answer. call, if set, is the call whose question
	// the journal keeps, and ref what hooks are told of the session. The error is
	// ErrUnattended, ErrNoAnswer or the cause of ctx.
	Ask(ctx context.Context, ref hermes.SessionRef, asked hermes.Asked, call string) (Reply, error)
	// Spawn runs a task in a child session and waits for its report, unless it goes on in the
	// background; then the session calls the hooks at its end. again says that an earlier turn began the call.
	Spawn(ctx context.Context, parent hermes.SessionRef, t hermes.Task, again bool) (hermes.Report, error)
	Publish(e hermes.Event)
	// Mode returns how risky calls are treated now.
	Mode() hermes.RightsMode
	// Attended reports whether a user can be asked now.
	Attended() bool
}

// Reply is the user's answer to a question or an approval.
type Reply struct {
	Answer   hermes.Answer
	Approval hermes.ApprovalAnswer
}

// Lent is what a session lends to the calls of a turn.
type Lent struct {
	Session     Session
	Record      *Record // only its lease and its journal are used
	Tools       hermes.Tools
	Offered     []hermes.Spec // what the model sees of them
	Hooks       *hook.Hooks
	Environment hermes.Environment
	// Unattended reports whether a call with this risk may run where no user can be
	// asked; nil allows none. Child sessions do not ask it: everything is refused there.
	Unattended func(hermes.Risk) bool
	// KnowsHost reports whether the user knows a host; nil knows none. See [KnownHosts].
	KnowsHost func(host string) bool
	// Halted returns why nothing may begin; nil, also as a func, is nothing.
	Halted func() error
	// Answers is the id of the newest message of the user; 0 is unknown.
	Answers int64
	Log     *slog.Logger
}

// Calls is what the calls of a turn share. The goroutines of a turn use it.
type Calls struct {
	lent    Lent
	journal hermes.Journal
	lease   *atomic.Pointer[hermes.Lease]
	ref     hermes.SessionRef
	taint   *agent.Taint    // of the session; it grows with each result
	begun   map[string]bool // calls in the journal since an earlier turn
	asking  sync.Map        // by id, calls that only ask the user: whether they have no result yet
}

// NewCalls returns the hosts for the calls of a turn. begun are the calls that the journal
// has since an earlier turn.
func NewCalls(l Lent, ref hermes.SessionRef, begun ...string) *Calls {
	t := &Calls{lent: l, journal: l.Record.store, lease: l.Record.lease, ref: ref, taint: agent.NewTaint(ref.Provenance), begun: map[string]bool{}}
	for _, id := range begun {
		t.begun[id] = true
	}
	return t
}

// Asking marks calls that ask the user, so that they stay open if the turn ends.
func (t *Calls) Asking(calls ...string) {
	for _, id := range calls {
		t.asking.Store(id, true)
	}
}

// Host returns the host of one call.
func (t *Calls) Host(c hermes.ToolCall, r *agent.Running) hermes.Host {
	return &host{Calls: t, Running: r, call: c}
}

// Now returns the session as it is now: its provenance grows during a turn, its mode changes, and users come and go.
func (t *Calls) Now() hermes.SessionRef {
	ref := t.ref
	ref.Provenance, ref.Mode, ref.Attended = t.taint.String(), t.lent.Session.Mode(), t.lent.Session.Attended()
	return ref
}

// KnowsHost reports whether the user knows a host; see [KnownHosts].
func (t *Calls) KnowsHost(name string) bool { return t.lent.KnowsHost != nil && t.lent.KnowsHost(name) }

// host is the [hermes.Host] of one call.
type host struct {
	*Calls
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
		if err := h.journal.BeginCall(context.WithoutCancel(ctx), held(h.lease), c); err != nil {
			return err
		}
	}
	spec, _ := h.lent.Tools.Spec(c.Name)
	h.journaled = true
	h.asks = spec.Effect == hermes.EffectAsk && !h.Invoked() && h.ref.Depth == 0 // no user goes on with a child
	h.asking.Store(c.ID, h.asks)
	return nil
}

// EndCall writes the result of a call to the journal. A call whose question is open
// when the turn ends gets no result: it is parked.
func (h *host) EndCall(ctx context.Context, c hermes.ToolCall, r hermes.Result) error {
	if h.asks && r.Failed && ctx.Err() != nil {
		return nil
	}
	h.asking.Store(c.ID, false)
	r.Provenance = hermes.AddProvenance(h.callTaint.String(), r.Provenance)
	return h.journal.EndCall(context.WithoutCancel(ctx), held(h.lease), c.ID, hermes.ToolMessage(h.call, r))
}

// Finish adds the provenance of a call's result to the session's.
func (h *host) Finish(r *hermes.Result) {
	if !h.journaled { // a call that did not come as far as its question asks nothing
		h.asking.Store(h.call.ID, false)
	}
	r.Provenance = hermes.AddProvenance(h.callTaint.String(), r.Provenance)
	h.taint.Add(r.Provenance)
}

func (h *host) Session() hermes.SessionRef { return h.Now() }

func (h *host) Environment() hermes.Environment { return h.lent.Environment }

// Answers returns the newest message of the user; see [hermes.TurnHost].
func (h *host) Answers() int64 { return h.lent.Answers }

// Notify shows a notice; see [hermes.Notifier].
func (h *host) Notify(n hermes.Notice) { h.lent.Session.Publish(n) }

// Tools returns the tools of the session; see [hermes.ToolLister].
func (h *host) Tools() []hermes.Spec { return Callable(h.lent.Tools) }

// Deferred returns the tools that the model is not offered; see [hermes.DeferringHost].
func (h *host) Deferred() []hermes.ToolGroup { return Deferred(h.lent.Tools, h.lent.Offered) }

func (h *host) Invoke(ctx context.Context, name string, arguments json.RawMessage) (hermes.Result, error) {
	if h.lent.Halted != nil {
		if err := h.lent.Halted(); err != nil {
			return hermes.Result{}, err
		}
	}
	r, err := h.Running.Invoke(ctx, name, arguments)
	h.callTaint.Add(r.Provenance)
	return r, err
}

func (h *host) Spawn(ctx context.Context, t hermes.Task) (hermes.Report, error) {
	parent := h.Session()
	if err := h.lent.Hooks.ChildStart(ctx, parent, t); err != nil {
		return hermes.Report{}, err
	}
	r, err := h.lent.Session.Spawn(ctx, parent, t, h.begun[h.call.ID])
	h.callTaint.Add(r.Provenance)
	h.taint.Add(r.Provenance)
	if r.Status != hermes.ChildRunning {
		h.lent.Hooks.ChildEnd(ctx, parent, r)
	}
	return r, err
}

func (h *host) Approve(ctx context.Context, a hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	kept := ""
	if h.journaled && a.CallID == h.call.ID && !h.approvalAsked.Swap(true) {
		kept = h.call.ID // the call asks for approval first: nothing has run so far
	}
	defer h.AskUser()()
	r, err := h.lent.Session.Ask(ctx, h.Now(), hermes.Asked{Approval: &a}, kept)
	switch {
	case errors.Is(err, ErrUnattended):
		return hermes.ApprovalAnswer{Decision: h.unattended(a)}, nil
	case errors.Is(err, ErrNoAnswer):
		return hermes.ApprovalAnswer{Decision: hermes.TimedOut}, nil
	case err != nil:
		return hermes.ApprovalAnswer{Decision: hermes.Deny}, err
	}
	return r.Approval, nil
}

// unattended is the decision where there is no user to ask. Every risk of the call
// must be allowed.
func (h *host) unattended(a hermes.ApprovalRequest) hermes.Decision {
	allowed := h.lent.Unattended
	if allowed == nil || h.Now().OnlyUserAllows() || len(a.Risks) == 0 {
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
	h.lent.Log.Warn(text, "session", h.ref.ID, "call", a.CallID)
	h.lent.Session.Publish(hermes.Notice{Level: hermes.NoticeWarning, Text: text})
	return hermes.AllowOnce
}

func (h *host) Ask(ctx context.Context, q hermes.Question) (hermes.Answer, error) {
	kept := ""
	if h.asks && !q.Secret {
		kept = h.call.ID
	}
	defer h.AskUser()()
	r, err := h.lent.Session.Ask(ctx, h.Now(), hermes.Asked{Question: &q}, kept)
	if errors.Is(err, ErrNoAnswer) {
		return hermes.Answer{TimedOut: true}, nil
	}
	return r.Answer, err
}
