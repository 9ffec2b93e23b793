package chat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"time"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/sse"
	"hermes/internal/texttool"
	"hermes/internal/transport/base"
)

// answer turns what a service sends into deltas. It is complete once the service
// sent a finish reason, [DONE], or the usage that comes last.
type answer struct {
	yield   func(hermes.Delta) bool
	replay  string
	scan    *texttool.Scanner // nil if the text cannot contain calls
	calls   calls
	think   thinking
	usage   *usage
	cached  bool // a router answers from its cache; no model is called
	finish  hermes.Finish
	events  int
	text    bool // visible text came
	refusal bool
	ended   bool // the service ended the answer
}

func newAnswer(r *hermes.Request, yield func(hermes.Delta) bool, replay string) *answer {
	return &answer{yield: yield, replay: replay, calls: newCalls(r.Messages)}
}

// graceAfterFinish is how long the usage and the end of a stream may take
// after its finish reason.
const graceAfterFinish = 5 * time.Second

// read reads the whole answer and yields it.
func (a *answer) read(x *httpc.Exchange) error {
	body := bufio.NewReader(x.Response.Body)
	// https://openrouter.ai/docs/guides/features/response-caching
	a.cached = x.Response.Header.Get("X-OpenRouter-Cache-Status") == "HIT"
	kind, _, _ := mime.ParseMediaType(x.Response.Header.Get("Content-Type"))
	var err error
	switch form(kind, body) {
	case formWhole:
		err = a.whole(body)
	case formLines:
		err = a.stream(sse.NewLineReader(body, sse.Limits{}), x)
	case formPage:
		err = fault.ErrNotAPI
	default:
		err = a.stream(sse.NewReader(body, sse.Limits{}), x)
	}
	if errors.Is(err, base.ErrStopped) {
		return err
	}
	return a.close(err)
}

// maxWhole bounds an answer that does not stream, in bytes.
const maxWhole = 64 << 20

func (a *answer) whole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxWhole))
	if err != nil {
		return err
	}
	if err := a.event(raw, false); err != nil {
		return err
	}
	a.ended = true
	return nil
}

func (a *answer) stream(r *sse.Reader, x *httpc.Exchange) error {
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		x.Alive()
		data := bytes.TrimSpace(ev.Data)
		if string(data) == "[DONE]" {
			a.events++
			a.ended = true
			return nil
		}
		if ev.Name == "error" {
			return &fault.Failure{Status: 200, Body: bytes.Clone(data)}
		}
		finished := a.finish != ""
		if err := a.event(data, ev.Cut); err != nil {
			return err
		}
		if !finished && a.finish != "" {
			x.Hurry(graceAfterFinish)
		}
	}
}

// event processes one chunk, or the whole answer.
func (a *answer) event(data []byte, cut bool) error {
	if len(data) == 0 {
		return nil
	}
	if text, ok := plain(data); ok {
		a.events++
		return a.words(text)
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); !odd {
			return unreadable(data, cut)
		}
		// A field of an unexpected type: the rest was read anyway.
	}
	a.events++
	if c.failed() {
		return &fault.Failure{Status: 200, Body: bytes.Clone(data)}
	}
	if c.Usage != nil {
		a.usage = c.Usage
		a.ended = a.ended || len(c.Choices) == 0 && (a.text || a.calls.any() || a.think.any())
	}
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue // we never request more than one
		}
		if err := a.choice(&c.Choices[i]); err != nil {
			return err
		}
	}
	return nil
}

func unreadable(data []byte, cut bool) error {
	if cut {
		return fault.ErrCut
	}
	const shown = 200
	return fmt.Errorf("%w: an event is not JSON: %.*q", fault.ErrGarbage, shown, data[:min(len(data), shown)])
}

func (a *answer) choice(c *choice) error {
	for _, s := range []*said{c.Delta, c.Message} {
		if s == nil {
			continue
		}
		if err := a.said(s); err != nil {
			return err
		}
	}
	if c.FinishReason == "" {
		return nil
	}
	finish, err := finishOf(c)
	a.finish = finish
	return err
}

func (a *answer) said(s *said) error {
	thought := s.thought()
	if thought != "" && !a.yield(hermes.Delta{Reasoning: thought}) {
		return base.ErrStopped
	}
	a.think.add(a.replay, thought, s.ReasoningDetails)
	text, inner := s.Content.text, s.Content.thought
	if inner != "" && !a.yield(hermes.Delta{Reasoning: inner}) {
		return base.ErrStopped
	}
	if s.Refusal != "" {
		a.refusal = true
		text += s.Refusal
	}
	if err := a.words(text); err != nil {
		return err
	}
	if s.FunctionCall != nil {
		s.ToolCalls = append(s.ToolCalls, callPiece{Function: *s.FunctionCall})
	}
	for i := range s.ToolCalls {
		if d := a.calls.add(&s.ToolCalls[i], i); d != nil && !a.yield(hermes.Delta{Call: d}) {
			return base.ErrStopped
		}
	}
	return nil
}
