package agent

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes"
)

// maxParallel is how many calls of a batch run at once.
const maxParallel = 8

// plan prepares the calls of a batch before any of them runs.
func (l *loop) plan(calls []hermes.ToolCall, refused map[string]string) []*call {
	batch := make([]*call, len(calls))
	for i, tc := range calls {
		c := &call{ToolCall: tc, refuse: refused[tc.ID]}
		c.spec, c.known = l.Tools.Spec(tc.Name)
		c.inspect()
		batch[i] = c
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
	sequential := hasExclusive(batch)
	for _, c := range batch {
		if n := len(out); n > 0 && !sequential && joins(out[n-1], c) {
			out[n-1] = append(out[n-1], c)
			continue
		}
		out = append(out, []*call{c})
	}
	return out
}

func hasExclusive(batch []*call) bool {
	for _, c := range batch {
		if c.spec.Mode == hermes.ModeExclusive {
			return true
		}
	}
	return false
}

// joins reports whether c may run at the same time as every call of the group.
func joins(group []*call, c *call) bool {
	if !parallel(c) {
		return false
	}
	for _, g := range group {
		if !parallel(g) || clash(g, c) {
			return false
		}
	}
	return true
}

func parallel(c *call) bool {
	if !c.known || c.refuse != "" {
		return false
	}
	switch c.spec.Mode {
	case hermes.ModeParallel:
		return true
	case hermes.ModePaths:
		return len(c.paths) > 0
	case hermes.ModeSequential:
		return c.reads
	}
	return false
}

// clash reports whether two calls touch the same files and one may change them.
func clash(a, b *call) bool {
	if a.reads && b.reads {
		return false
	}
	for _, p := range a.paths {
		for _, q := range b.paths {
			if overlap(p, q) {
				return true
			}
		}
	}
	return false
}

// overlap reports whether two paths are equal or one contains the other.
func overlap(p, q string) bool {
	p, q = filepath.ToSlash(filepath.Clean(p)), filepath.ToSlash(filepath.Clean(q))
	if p == q || p == "." || q == "." {
		return true
	}
	// The folder of the relative path is unknown: compare the ends only.
	if filepath.IsAbs(p) != filepath.IsAbs(q) {
		return strings.HasSuffix(p, "/"+q) || strings.HasSuffix(q, "/"+p)
	}
	return strings.HasPrefix(p, q+"/") || strings.HasPrefix(q, p+"/")
}

// runGroup runs calls at the same time. It yields their events only from the
// loop's own goroutine.
func (l *loop) runGroup(ctx context.Context, group []*call) {
	events := make(chan hermes.Event, 16)
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for _, c := range group {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			l.runCall(ctx, c, events)
		})
	}
	go func() { // ends with the calls; the loop below waits for that
		wg.Wait()
		close(events)
	}()
	for e := range events {
		l.emit(e)
	}
}

func (l *loop) runCall(ctx context.Context, c *call, events chan<- hermes.Event) {
	began := l.Now()
	preview := l.Tools.Preview(c.ToolCall)
	events <- hermes.CallStarted{Call: c.ToolCall, Preview: preview}
	switch {
	case c.refuse != "":
		c.result = hermes.ErrorResult(c.refuse)
	case ctx.Err() != nil:
		c.result = hermes.ErrorResult(notRun)
	default:
		c.result = l.Tools.Run(ctx, l.made(c.ToolCall, func(text string) {
			select {
			case events <- hermes.CallProgress{CallID: c.ID, Text: text}:
			default: // progress never blocks
			}
		}))
	}
	events <- hermes.CallDone{
		Call: c.ToolCall, Preview: preview, Result: c.message(), Shown: c.result.Shown,
		Duration: l.Now().Sub(began).Round(time.Microsecond), Failed: c.result.Failed,
	}
}

// made returns a call of the model with its host.
func (l *loop) made(c hermes.ToolCall, progress func(string)) *hermes.Call {
	return &hermes.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments), Host: l.Host(c, progress)}
}

// message returns the tool message with the call's result.
func (c *call) message() hermes.Message {
	m := hermes.Message{
		Role: hermes.RoleTool, CallID: c.ID, ToolName: c.Name, Failed: c.result.Failed, Provenance: c.result.Provenance,
		Parts: []hermes.Part{{Text: c.result.Text}},
	}
	for i := range c.result.Images {
		m.Parts = append(m.Parts, hermes.Part{Image: &c.result.Images[i]})
	}
	return m
}

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
		calls[i], results[i] = l.made(c.ToolCall, func(string) {}), &c.result
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
