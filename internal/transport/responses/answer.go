package responses

import (
	"bytes"
	"errors"
	"io"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/sse"
	"hermes/internal/transport/base"
)

// answer turns what a service sends into deltas. It is complete only after the
// event that ends the response.
type answer struct {
	yield   base.Yield
	ids     base.Fresh
	items   map[int]*open
	calls   int
	usage   *usage
	finish  hermes.Finish
	refusal bool
	cut     bool // a message was not finished
	events  int
	closed  bool
}

func newAnswer(r *hermes.Request, yield base.Yield) *answer {
	return &answer{yield: yield, ids: base.FreshAfter(r.Messages), items: map[int]*open{}}
}

// Event processes one event of a stream.
func (a *answer) Event(e sse.Event, x *httpc.Exchange) (last bool, err error) {
	x.Alive()
	err = a.raw(e.Name, bytes.TrimSpace(e.Data), e.Cut)
	return a.closed, err
}

// raw processes one event.
func (a *answer) raw(name string, data []byte, cut bool) error {
	if len(data) == 0 {
		return nil
	}
	if string(data) == "[DONE]" { // some compatible services end like this
		a.events++
		a.closed = a.allDone()
		return nil
	}
	var e event
	if err := base.Decode(data, cut, &e); err != nil {
		return err
	}
	a.events++
	if e.Type == "" {
		e.Type = name
	}
	if name == "error" || e.Type == "error" || e.Type == "" && isError(e.Error) {
		return &fault.Failure{Status: 200, Body: bytes.Clone(data)}
	}
	return a.event(&e)
}

func (a *answer) event(e *event) error {
	switch e.Type {
	case "response.output_item.added":
		if e.Item != nil {
			return a.begin(e.Index, e.Item)
		}
	case "response.output_text.delta", "response.refusal.delta":
		a.refusal = a.refusal || e.Type == "response.refusal.delta"
		return a.words(a.at(e.Index, "message"), e.Delta)
	case "response.reasoning_summary_part.added":
		if e.Part > 0 {
			return a.thought(a.at(e.Index, "reasoning"), "\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.thought(a.at(e.Index, "reasoning"), e.Delta)
	case "response.function_call_arguments.delta":
		return a.arguments(a.items[e.Index], e.Delta)
	case "response.output_item.done":
		if e.Item != nil {
			return a.end(e.Index, e.Item)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		if e.Response != nil {
			return a.response(e.Response)
		}
	}
	return nil // progress, and unknown events
}

// Whole processes an answer that does not stream.
func (a *answer) Whole(body io.Reader) error {
	var r response
	raw, err := base.ReadWhole(body, &r)
	if err != nil {
		return err
	}
	if isError(r.Error) || r.Object != "response" && len(r.Output) == 0 {
		return &fault.Failure{Status: 200, Body: raw}
	}
	a.events++
	return a.response(&r)
}

// response processes the final state of the response.
func (a *answer) response(r *response) error {
	if r.Usage != nil {
		a.usage = r.Usage
	}
	if isError(r.Error) {
		return &fault.Failure{Status: 200, Body: bytes.Join([][]byte{[]byte(`{"error":`), r.Error, {'}'}}, nil)}
	}
	switch r.Status {
	case "failed", "cancelled":
		return &fault.Failure{Status: 200, Body: []byte(`{"error":{"type":"server_error","message":"the service stopped the answer: ` + r.Status + `"}}`)}
	case "in_progress", "queued":
		return nil // not the end: this is not an answer yet
	}
	for i := range r.Output {
		if err := a.end(i, &r.Output[i]); err != nil {
			return err
		}
	}
	if r.Status == "incomplete" {
		a.finish = hermes.FinishLength
		if r.Incomplete != nil && r.Incomplete.Reason == "content_filter" {
			a.finish = hermes.FinishFilter
		}
	}
	a.closed = true
	return nil
}

// Close yields the end of the answer, and decides whether it is complete.
func (a *answer) Close(err error) error {
	err = base.Close(err, a.closed, a.events > 0)
	if err == nil {
		err = a.check()
	}
	if errors.Is(err, base.ErrStopped) {
		return err
	}
	if a.usage != nil {
		if stop := a.yield.Spent(a.usage.tokens(), a.usage.cost()); stop != nil {
			return stop
		}
	}
	if err != nil {
		return err
	}
	return a.yield(hermes.Delta{Finish: a.why()})
}

func (a *answer) why() hermes.Finish {
	switch {
	case a.finish != "":
		return a.finish
	case a.calls > 0:
		return hermes.FinishCalls
	case a.refusal:
		return hermes.FinishFilter
	case a.cut:
		return hermes.FinishLength
	}
	return hermes.FinishStop
}
