package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
)

// caller runs the calls of a turn, one by one: those of the model and those that a
// running call invokes.
type caller struct {
	tools hermes.Tools
	host  func(hermes.ToolCall, *Running) hermes.Host
	now   func() time.Time
	gate  gate
}

// RunCall runs a call outside of a turn, without events.
func RunCall(ctx context.Context, tools hermes.Tools, host func(hermes.ToolCall, *Running) hermes.Host, c hermes.ToolCall) hermes.Result {
	l := &caller{tools: tools, host: host, now: time.Now}
	made := l.prepare(c, "")
	l.run(ctx, made, func(hermes.Event) {})
	return made.result
}

// Finisher is implemented by a Host that must see the result of its call before anyone
// else does.
type Finisher interface {
	// Finish may change the result. It is called once, when the call has ended.
	Finish(r *hermes.Result)
}

// prepare inspects a call. If refuse is set, the call does not run.
func (l *caller) prepare(tc hermes.ToolCall, refuse string) *call {
	c := &call{ToolCall: l.forwarded(tc), sent: tc, refuse: refuse}
	c.spec, c.known = l.tools.Spec(c.Name)
	c.inspect()
	return c
}

// forwarded returns the call that a call makes: another one, if it is of [hermes.ForwardTool].
func (l *caller) forwarded(tc hermes.ToolCall) hermes.ToolCall {
	other := tc.Forwarded()
	if g, ok := l.tools.(hermes.GroupedTools); ok && other.Name != tc.Name && g.Forwards(other.Name) {
		return other
	}
	return tc
}

// run runs a call when it may run, and emits its events. It sets the result.
func (l *caller) run(ctx context.Context, c *call, emit func(hermes.Event)) {
	entered := l.gate.enter(ctx, c)
	if entered {
		defer l.gate.done(c)
	}
	began := l.now()
	preview := l.tools.Preview(c.ToolCall)
	emit(hermes.CallStarted{Call: c.ToolCall, Preview: preview})
	switch {
	case c.refuse != "":
		c.result = hermes.ErrorResult(c.refuse)
	case !entered || ctx.Err() != nil:
		c.result = hermes.ErrorResult(notRun)
	default:
		r := &Running{caller: l, call: c, emit: emit}
		made := l.made(c, r)
		c.result = l.tools.Run(ctx, made)
		r.end()
		if f, ok := made.Host.(Finisher); ok {
			f.Finish(&c.result)
		}
	}
	emit(hermes.CallDone{
		Call: c.ToolCall, Preview: preview, Result: c.message(), Shown: c.result.Shown,
		Duration: l.now().Sub(began).Round(time.Microsecond), Failed: c.result.Failed,
	})
}

// made returns a call with its host.
func (l *caller) made(c *call, r *Running) *hermes.Call {
	made := &hermes.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments)}
	if l.host != nil {
		made.Host = l.host(c.sent, r)
	}
	return made
}

// Running is a call that runs. A Host embeds it: it is the part of a Host that the loop
// implements. Its methods may be called concurrently and do nothing once the call has
// ended.
type Running struct {
	caller *caller
	call   *call

	mu       sync.RWMutex // held while an event is emitted
	emit     func(hermes.Event)
	ended    bool
	children int
}

// Invoked reports whether another call invoked this one, and not the model.
func (r *Running) Invoked() bool { return r.call.parent != nil }

// AskUser marks the call, and those that invoked it, as waiting for the user until the
// returned func is called.
func (r *Running) AskUser() (answered func()) {
	add := func(n int32) {
		for c := r.call; c != nil; c = c.parent {
			c.asking.Add(n)
		}
	}
	add(1)
	return func() { add(-1) }
}

// Waiting reports whether the call, or one that it invoked, waits for the user; see
// [hermes.Waiter].
func (r *Running) Waiting() bool { return r.call.asking.Load() > 0 }

// Progress shows the user what the call is doing, as [hermes.Host] says.
func (r *Running) Progress(text string) {
	r.event(hermes.CallProgress{CallID: r.call.ID, Text: text})
}

// Invoke runs another tool of the session in the way of a call of the model, and waits
// until it may run. The id of the call is that of this one, a slash and a number.
func (r *Running) Invoke(ctx context.Context, name string, arguments json.RawMessage) (hermes.Result, error) {
	r.mu.Lock()
	r.children++
	id, ended := fmt.Sprintf("%s/%d", r.call.ID, r.children), r.ended
	r.mu.Unlock()
	if ended {
		return hermes.Result{}, errors.New("the call that wants to run this has ended")
	}
	tc := r.caller.forwarded(hermes.ToolCall{ID: id, Name: name, Arguments: string(arguments)})
	if _, known := r.caller.tools.Spec(tc.Name); !known {
		return hermes.Result{}, fmt.Errorf("tool %q: %w", tc.Name, hermes.ErrNotFound)
	}
	tc.Arguments = r.caller.tools.Canonical(tc)
	c := r.caller.prepare(tc, "")
	c.parent = r.call
	r.caller.run(ctx, c, r.event)
	return c.result, nil
}

// event emits an event of this call, or of one that it invoked, while it runs.
func (r *Running) event(e hermes.Event) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.ended {
		r.emit(e)
	}
}

// end is called when the call has ended.
func (r *Running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
