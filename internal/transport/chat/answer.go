package chat

import (
	"bytes"
	"io"
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
	yield   base.Yield
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

func newAnswer(r *hermes.Request, yield base.Yield, replay string) *answer {
	return &answer{yield: yield, replay: replay, calls: newCalls(r.Messages)}
}

// graceAfterFinish is how long the usage and the end of a stream may take
// after its finish reason.
const graceAfterFinish = 5 * time.Second

// Whole processes an answer that does not stream.
func (a *answer) Whole(body io.Reader) error {
	data, err := base.ReadWhole(body, nil)
	if err == nil {
		err = a.event(data, false)
	}
	a.ended = err == nil
	return err
}

// Event processes one event of a stream.
func (a *answer) Event(e sse.Event, x *httpc.Exchange) (last bool, err error) {
	x.Alive()
	data := bytes.TrimSpace(e.Data)
	if string(data) == "[DONE]" {
		a.events++
		a.ended = true
		return true, nil
	}
	if e.Name == "error" {
		return false, &fault.Failure{Status: 200, Body: bytes.Clone(data)}
	}
	finished := a.finish != ""
	if err := a.event(data, e.Cut); err != nil {
		return false, err
	}
	if !finished && a.finish != "" {
		x.Hurry(graceAfterFinish)
	}
	return false, nil
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
	if err := base.Decode(data, cut, &c); err != nil {
		return err
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
	if err := a.thought(thought); err != nil {
		return err
	}
	a.think.add(a.replay, thought, s.ReasoningDetails)
	text, inner := s.Content.text, s.Content.thought
	if err := a.thought(inner); err != nil {
		return err
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
		d := a.calls.add(&s.ToolCalls[i], i)
		if d == nil {
			continue
		}
		if err := a.yield(hermes.Delta{Call: d}); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) thought(text string) error {
	if text == "" {
		return nil
	}
	return a.yield(hermes.Delta{Reasoning: text})
}
