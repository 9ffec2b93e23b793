package agent

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"hermes"
)

// plan prepares the calls of a batch before any of them runs.
func (l *loop) plan(calls []hermes.ToolCall, refused map[string]string) []*call {
	batch := make([]*call, len(calls))
	for i, tc := range calls {
		batch[i] = l.caller.prepare(tc, refused[tc.ID])
	}
	return batch
}

// inspect finds out which files a call touches and whether it only reads.
func (c *call) inspect() {
	if !c.known || c.refuse != "" {
		return
	}
	arguments := json.RawMessage(c.Arguments)
	c.reads = c.spec.EffectOf(arguments) == hermes.EffectNone
	switch {
	case c.spec.Paths != nil:
		c.paths = c.spec.Paths(arguments)
	case c.reads && c.spec.Mode == hermes.ModeSequential:
		c.paths = []string{"."} // it may read anything
	}
}

// runBatch runs all calls. When it returns, every call has a result.
func (l *loop) runBatch(ctx context.Context, batch []*call) {
	for _, group := range groups(batch) {
		l.runGroup(ctx, group)
	}
}

// groups splits a batch into groups of calls that may run at the same time.
// The groups keep the order of the calls.
func groups(batch []*call) [][]*call {
	var out [][]*call
	sequential := slices.ContainsFunc(batch, func(c *call) bool { return c.spec.Mode == hermes.ModeExclusive })
	for _, c := range batch {
		if n := len(out); n > 0 && !sequential && !slices.ContainsFunc(out[n-1], func(g *call) bool { return !together(g, c) }) {
			out[n-1] = append(out[n-1], c)
			continue
		}
		out = append(out, []*call{c})
	}
	return out
}

// runGroup runs calls at the same time. It yields their events only from the
// loop's own goroutine.
func (l *loop) runGroup(ctx context.Context, group []*call) {
	events := make(chan hermes.Event, 16)
	emit := func(e hermes.Event) {
		if _, ok := e.(hermes.CallProgress); !ok {
			events <- e
			return
		}
		select {
		case events <- e:
		default: // progress never blocks
		}
	}
	var wg sync.WaitGroup
	for _, c := range group {
		wg.Go(func() { l.caller.run(ctx, c, emit) })
	}
	go func() { // ends with the calls; the loop below waits for that
		wg.Wait()
		close(events)
	}()
	for e := range events {
		l.emit(e)
	}
}

// message returns the tool message with the call's result.
func (c *call) message() hermes.Message { return hermes.ToolMessage(c.sent, c.result) }

// appendResults appends the results in the order of the calls, with the user's
// note after the last one. If the consumer has stopped, it gets no results;
// its journal has those of the calls that ran.
func (l *loop) appendResults(batch []*call) {
	note := ""
	if l.Steer != nil {
		note = l.Steer()
	}
	for i, c := range batch {
		m := c.message()
		if i == len(batch)-1 && note != "" {
			m.Parts = append(m.Parts, hermes.Part{Text: steerText(note)})
			l.emit(hermes.Steered{Text: note})
		}
		if !l.append(m) {
			return
		}
	}
}

// finishBatch passes all results of a batch to Tools that are a [hermes.BatchFinisher].
func (l *loop) finishBatch(ctx context.Context, batch []*call) {
	f, ok := l.Tools.(hermes.BatchFinisher)
	if !ok || l.stopped {
		return
	}
	calls, results := make([]*hermes.Call, len(batch)), make([]*hermes.Result, len(batch))
	for i, c := range batch {
		calls[i], results[i] = l.caller.made(c, &Running{caller: l.caller, call: c, ended: true}), &c.result
	}
	f.FinishBatch(ctx, calls, results)
}

func allRefund(batch []*call) bool {
	for _, c := range batch {
		if !c.result.RefundStep {
			return false
		}
	}
	return true
}
