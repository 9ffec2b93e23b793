// Package hook calls the hooks of a program at the points that [hermes.Hook]
// names.
//
// There is one [Hooks] for all sessions. It calls the hooks in their order, bounds
// the time of each function and catches its panics. A hook that can refuse and is a
// guard refuses when it fails; all other failures are logged and skipped. The
// package knows no particular hook.
//
// hook.go has the points of a session, tool.go those of a call, model.go those of a
// request, engine.go the one before a compaction.
package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"hermes"
)

// defaultTimeout limits a function of a hook that sets no timeout.
const defaultTimeout = 30 * time.Second

var errLate = errors.New("it took too long")

// Hooks calls a list of hooks. Its methods may be called concurrently; a nil *Hooks
// has no hooks.
type Hooks struct {
	list []hermes.Hook
	log  *slog.Logger
}

// New returns the dispatcher of hooks, which are called in this order. A nil log
// discards.
func New(log *slog.Logger, hooks ...hermes.Hook) *Hooks {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Hooks{list: slices.Clone(hooks), log: log}
}

func (h *Hooks) all() []hermes.Hook {
	if h == nil {
		return nil
	}
	return h.list
}

// With returns the dispatcher of these hooks and of one more, which is called last. h stays as it
// is.
func (h *Hooks) With(last hermes.Hook) *Hooks {
	if h == nil {
		return New(nil, last)
	}
	return &Hooks{list: append(slices.Clip(h.list), last), log: h.log}
}

// SessionStart calls the hooks of that name. The first error, or the end of ctx, refuses
// the session: then SessionEnd of the hooks before follows.
func (h *Hooks) SessionStart(ctx context.Context, s hermes.SessionRef) error {
	for i, k := range h.all() {
		if k.SessionStart == nil {
			continue
		}
		err := h.ask(ctx, k, "session start", func(ctx context.Context) error { return k.SessionStart(ctx, s) })
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			(&Hooks{h.list[:i], h.log}).SessionEnd(ctx, s)
			return err
		}
	}
	return nil
}

// TurnStart calls the hooks of that name and returns what they add to the message,
// as hidden parts. The first error refuses the message.
func (h *Hooks) TurnStart(ctx context.Context, s hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
	var added []hermes.Part
	for _, k := range h.all() {
		if k.TurnStart == nil {
			continue
		}
		type start struct {
			parts []hermes.Part
			err   error
		}
		did, err := call(ctx, h, k, "turn start", func(ctx context.Context) start {
			parts, err := k.TurnStart(ctx, s, m)
			return start{parts, err}
		})
		if err = refusal(k, did.err, err); err != nil {
			return nil, err
		}
		for _, p := range did.parts {
			p.Hidden = true
			added = append(added, p)
		}
	}
	return added, nil
}

// BeforeCompaction calls the hooks of that name.
func (h *Hooks) BeforeCompaction(ctx context.Context, s hermes.SessionRef, leaving []hermes.Message) {
	for _, k := range h.all() {
		if k.BeforeCompaction != nil {
			h.tell(ctx, k, "compaction", func(ctx context.Context) { k.BeforeCompaction(ctx, s, slices.Clone(leaving)) })
		}
	}
}

// Compacted calls the hooks of that name.
func (h *Hooks) Compacted(ctx context.Context, s hermes.SessionRef) {
	for _, k := range h.all() {
		if k.Compacted != nil {
			h.tell(ctx, k, "end of a compaction", func(ctx context.Context) { k.Compacted(ctx, s) })
		}
	}
}

// TurnEnd calls the hooks of that name and returns what they want the turn to go on
// with, or "".
func (h *Hooks) TurnEnd(ctx context.Context, s hermes.SessionRef, o hermes.Outcome, turn []hermes.Message) (goOn string) {
	var wishes []string
	for _, k := range h.all() {
		if k.TurnEnd == nil {
			continue
		}
		wish, _ := call(ctx, h, k, "turn end", func(ctx context.Context) string { return k.TurnEnd(ctx, s, o, slices.Clone(turn)) })
		if wish = strings.TrimSpace(wish); wish != "" {
			wishes = append(wishes, wish)
		}
	}
	return strings.Join(wishes, "\n\n")
}

// ChildStart calls the hooks of that name. The first error refuses the task.
func (h *Hooks) ChildStart(ctx context.Context, parent hermes.SessionRef, t hermes.Task) error {
	for _, k := range h.all() {
		if k.ChildStart == nil {
			continue
		}
		if err := h.ask(ctx, k, "start of a child", func(ctx context.Context) error { return k.ChildStart(ctx, parent, t) }); err != nil {
			return err
		}
	}
	return nil
}

// ChildEnd calls the hooks of that name, also when ctx has ended.
func (h *Hooks) ChildEnd(ctx context.Context, parent hermes.SessionRef, r hermes.Report) {
	for _, k := range h.all() {
		if k.ChildEnd != nil {
			h.tell(ctx, k, "end of a child", func(ctx context.Context) { k.ChildEnd(ctx, parent, r) })
		}
	}
}

// WantsQuestions reports whether any hook has a function for what the user is asked.
func (h *Hooks) WantsQuestions() bool {
	return slices.ContainsFunc(h.all(), func(k hermes.Hook) bool { return k.Asked != nil || k.Answered != nil })
}

// Asked calls the hooks of that name.
func (h *Hooks) Asked(ctx context.Context, s hermes.SessionRef, a hermes.Asked) {
	for _, k := range h.all() {
		if k.Asked != nil {
			h.tell(ctx, k, "question", func(ctx context.Context) { k.Asked(ctx, s, a) })
		}
	}
}

// Answered calls the hooks of that name.
func (h *Hooks) Answered(ctx context.Context, s hermes.SessionRef, a hermes.Asked, d hermes.Decision) {
	for _, k := range h.all() {
		if k.Answered != nil {
			h.tell(ctx, k, "answer to a question", func(ctx context.Context) { k.Answered(ctx, s, a, d) })
		}
	}
}

// SessionEnd calls the hooks of that name, also when ctx has ended.
func (h *Hooks) SessionEnd(ctx context.Context, s hermes.SessionRef) {
	for _, k := range h.all() {
		if k.SessionEnd != nil {
			h.tell(ctx, k, "session end", func(ctx context.Context) { k.SessionEnd(ctx, s) })
		}
	}
}

// tell calls a function that returns nothing, also when ctx has ended.
func (h *Hooks) tell(ctx context.Context, k hermes.Hook, point string, f func(context.Context)) {
	_, _ = call(context.WithoutCancel(ctx), h, k, point, func(ctx context.Context) struct{} { // call has logged the error
		f(ctx)
		return struct{}{}
	})
}

// ask calls a function that can refuse and returns its refusal.
func (h *Hooks) ask(ctx context.Context, k hermes.Hook, point string, f func(context.Context) error) error {
	refused, broken := call(ctx, h, k, point, f)
	return refusal(k, refused, broken)
}

// refusal returns the refusal of a hook: what it said, or that it is a guard and
// failed.
func refusal(k hermes.Hook, refused, broken error) error {
	if broken != nil && k.Guard {
		return guardFailed{k.Name, broken}
	}
	return refused
}

// guardFailed is the refusal of a guard that failed.
type guardFailed struct {
	guard string
	cause error
}

func (e guardFailed) Error() string {
	return fmt.Sprintf("not done: the guard %s could not check this (%v)", e.guard, e.cause)
}

func (e guardFailed) Unwrap() error { return e.cause }

// call calls a function of a hook and returns what it returned, or the zero value and
// why the function counts as failed: a panic or a timeout, which it logs. Nothing
// waits for a function that ignores its context; what it returns late is dropped.
func call[T any](ctx context.Context, h *Hooks, k hermes.Hook, point string, f func(context.Context) T) (T, error) {
	limit := k.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	type outcome struct {
		value  T
		broken error
	}
	done := make(chan outcome, 1)
	go func() { // ends with the function; the channel holds its outcome
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				h.log.Error("hook panicked", "hook", k.Name, "point", point, "panic", p, "stack", string(debug.Stack()))
				o.broken = fmt.Errorf("it panicked: %v", p)
			}
			done <- o
		}()
		o.value = f(ctx)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		o.broken = context.Cause(ctx)
	}
	if o.broken != nil {
		h.log.Warn("hook failed", "hook", k.Name, "point", point, "err", o.broken)
	}
	return o.value, o.broken
}
