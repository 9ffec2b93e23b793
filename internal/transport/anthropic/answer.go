package anthropic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"

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
	yield   func(hermes.Delta) bool
	open    map[int]*openBlock
	calls   int
	named   int // the calls with a tool name
	usage   usage
	counted bool
	finish  hermes.Finish
	events  int
	stopped bool
}

func newAnswer(yield func(hermes.Delta) bool, history []hermes.Message) *answer {
	return &answer{yield: yield, ids: base.FreshAfter(history), open: map[int]*openBlock{}}
}

// read reads the whole answer and yields it.
func (a *answer) read(x *httpc.Exchange) error {
	body := bufio.NewReader(x.Response.Body)
	kind, _, _ := mime.ParseMediaType(x.Response.Header.Get("Content-Type"))
	var err error
	switch {
	case kind == "text/event-stream":
		err = a.stream(sse.NewReader(body, sse.Limits{}), x)
	case begins(body, '{'):
		err = a.whole(body)
	case begins(body, '<'):
		err = fault.ErrNotAPI
	default:
		err = a.stream(sse.NewReader(body, sse.Limits{}), x)
	}
	if errors.Is(err, base.ErrStopped) {
		return err
	}
	return a.close(err)
}

// begins reports whether c is the first byte that is not blank.
func begins(body *bufio.Reader, c byte) bool {
	for n := 1; n <= 64; n++ {
		head, err := body.Peek(n)
		if err != nil {
			return false
		}
		if b := head[n-1]; b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b == c
		}
	}
	return false
}

func (a *answer) stream(r *sse.Reader, x *httpc.Exchange) error {
	for !a.stopped {
		ev, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if ev.Name != "ping" { // a ping is no progress
			x.Alive()
		}
		if err := a.raw(ev.Name, ev.Data, ev.Cut); err != nil {
			return err
		}
	}
	return nil
}

// raw processes one event.
func (a *answer) raw(name string, data []byte, cut bool) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return nil
	}
	if text, ok := plainText(data); ok {
		a.events++
		return a.say(hermes.Delta{Text: text})
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); !odd {
			if cut {
				return fault.ErrCut
			}
			const shown = 200
			return fmt.Errorf("%w: an event is not JSON: %.*q", fault.ErrGarbage, shown, data[:min(len(data), shown)])
		}
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
			return a.say(hermes.Delta{Usage: a.usage.tokens()})
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

func (a *answer) say(d hermes.Delta) error {
	if !a.yield(d) {
		return base.ErrStopped
	}
	return nil
}

// maxWhole bounds an answer that does not stream, in bytes.
const maxWhole = 64 << 20

// whole processes an answer that does not stream, as the equivalent events.
func (a *answer) whole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxWhole))
	if err != nil {
		return err
	}
	var msg message
	if err := json.Unmarshal(raw, &msg); err != nil {
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); !odd {
			return fault.ErrCut
		}
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

// close yields the end of the answer, and decides whether it is complete.
func (a *answer) close(err error) error {
	if _, failed := errors.AsType[*fault.Failure](err); a.finish != "" && len(a.open) == 0 && !failed {
		err = nil // the answer is complete; how the connection ended does not matter
	}
	if err == nil && !a.stopped && (a.finish == "" || len(a.open) > 0) {
		err = fault.ErrCut
		if a.events == 0 {
			err = fault.ErrEmpty
		}
	}
	if err == nil {
		err = base.Named(a.calls, a.named)
	}
	if a.counted {
		if err := a.say(hermes.Delta{Usage: a.usage.tokens()}); err != nil {
			return err
		}
		if cost := base.Cost(a.usage.Cost, a.usage.CostDetails.Upstream, a.usage.BYOK); cost != nil {
			if err := a.say(hermes.Delta{Cost: cost}); err != nil {
				return err
			}
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
	return a.say(hermes.Delta{Finish: a.finish})
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
