package anthropic

import (
	"bytes"
	"io"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/sse"
	"hermes/internal/transport/base"
)

// answer turns what a service sends into deltas. It is complete only after
// message_stop, or after a stop reason if a compatible service omits that.
type answer struct {
	ids     base.Fresh
	yield   base.Yield
	open    map[int]*openBlock
	calls   int
	named   int // the calls with a tool name
	usage   usage
	counted bool
	finish  hermes.Finish
	events  int
	stopped bool
}

func newAnswer(r *hermes.Request, yield base.Yield) *answer {
	return &answer{yield: yield, ids: base.FreshAfter(r.Messages), open: map[int]*openBlock{}}
}

// Event processes one event of a stream.
func (a *answer) Event(e sse.Event, x *httpc.Exchange) (last bool, err error) {
	if e.Name != "ping" { // a ping is no progress
		x.Alive()
	}
	err = a.raw(e.Name, bytes.TrimSpace(e.Data), e.Cut)
	return a.stopped, err
}

// raw processes one event.
func (a *answer) raw(name string, data []byte, cut bool) error {
	if len(data) == 0 || string(data) == "[DONE]" {
		return nil
	}
	if text, ok := plainText(data); ok {
		a.events++
		return a.yield(hermes.Delta{Text: text})
	}
	var e event
	if err := base.Decode(data, cut, &e); err != nil {
		return err
	}
	a.events++
	if e.Type == "" {
		e.Type = name
	}
	if name == "error" || e.Type == "error" || e.Type == "" && len(e.Error) > 0 {
		return &fault.Failure{Status: 200, Body: bytes.Clone(data)}
	}
	return a.event(&e)
}

func (a *answer) event(e *event) error {
	switch e.Type {
	case "message_start":
		if e.Message == nil {
			return nil
		}
		a.count(e.Message.Usage)
		if a.counted { // report it at once, in case the answer is cut off
			return a.yield(hermes.Delta{Usage: a.usage.tokens()})
		}
	case "content_block_start":
		if e.ContentBlock != nil {
			return a.begin(e.Index, e.ContentBlock)
		}
	case "content_block_delta":
		if e.Delta != nil {
			return a.piece(e.Index, e.Delta)
		}
	case "content_block_stop":
		return a.end(e.Index)
	case "message_delta":
		a.count(e.Usage)
		if e.Delta != nil && e.Delta.StopReason != "" {
			a.finish = finishOf(e.Delta.StopReason)
		}
	case "message_stop":
		a.stopped = true
	}
	return nil // ping, and unknown events
}

// Whole processes an answer that does not stream, as the equivalent events.
func (a *answer) Whole(body io.Reader) error {
	var msg message
	raw, err := base.ReadWhole(body, &msg)
	if err != nil {
		return err
	}
	if msg.Type == "error" || len(msg.Error) > 0 || msg.StopReason == "" && len(msg.Content) == 0 {
		return &fault.Failure{Status: 200, Body: raw}
	}
	a.events++
	a.count(msg.Usage)
	for i := range msg.Content {
		if err := a.begin(i, &msg.Content[i]); err != nil {
			return err
		}
		if err := a.end(i); err != nil {
			return err
		}
	}
	a.finish = finishOf(msg.StopReason)
	a.stopped = true
	return nil
}

// Close yields the end of the answer, and decides whether it is complete.
func (a *answer) Close(err error) error {
	err = base.Close(err, a.finish != "" && len(a.open) == 0 || a.stopped && err == nil, a.events > 0)
	if err == nil {
		err = base.Named(a.calls, a.named)
	}
	if a.counted {
		if stop := a.yield.Spent(a.usage.tokens(), base.Cost(a.usage.Cost, a.usage.CostDetails.Upstream, a.usage.BYOK)); stop != nil {
			return stop
		}
	}
	if err != nil {
		return err
	}
	if a.calls > 0 && a.finish == hermes.FinishStop || a.finish == "" {
		a.finish = hermes.FinishStop
		if a.calls > 0 {
			a.finish = hermes.FinishCalls
		}
	}
	return a.yield(hermes.Delta{Finish: a.finish})
}

func finishOf(reason string) hermes.Finish {
	switch reason {
	case "tool_use":
		return hermes.FinishCalls
	case "max_tokens", "model_context_window_exceeded":
		return hermes.FinishLength
	case "refusal":
		return hermes.FinishFilter
	}
	return hermes.FinishStop
}
