package gemini

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/sse"
	"hermes/internal/transport/base"
)

// answer turns what a service sends into deltas. It is complete once the
// candidate has a finish reason.
type answer struct {
	yield     base.Yield
	ids       base.Fresh
	calls     int
	named     int // the calls with a tool name
	thought   strings.Builder
	signature string // of the text
	usage     *usage
	finish    hermes.Finish
	events    int
}

func newAnswer(r *hermes.Request, yield base.Yield) *answer {
	return &answer{yield: yield, ids: base.FreshAfter(r.Messages)}
}

// Event processes one event of a stream.
func (a *answer) Event(e sse.Event, x *httpc.Exchange) (last bool, err error) {
	x.Alive()
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return false, nil
	}
	var g generated
	if err := base.Decode(data, e.Cut, &g); err != nil {
		return false, err
	}
	if err := a.chunk(&g, data); err != nil {
		return false, err
	}
	if a.finish != "" {
		x.Hurry(base.DrainTime * 25) // at most one more chunk follows, with the usage
	}
	return false, nil
}

// Whole processes an answer that does not stream, or one that is a list of chunks.
func (a *answer) Whole(body io.Reader) error {
	var chunks []json.RawMessage
	raw, err := base.ReadWhole(body, &chunks)
	if err != nil {
		return err
	}
	if len(chunks) == 0 {
		chunks = []json.RawMessage{raw}
	}
	for _, data := range chunks {
		var g generated
		if err := base.Decode(data, true, &g); err != nil {
			return err
		}
		if err := a.chunk(&g, data); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) chunk(g *generated, data []byte) error {
	a.events++
	if isError(g.Error) {
		return &fault.Failure{Status: 200, Body: bytes.Clone(data)}
	}
	if g.Usage != nil {
		a.usage = g.Usage
	}
	if g.Feedback != nil && g.Feedback.Reason != "" {
		return blocked(g.Feedback.Reason, g.Feedback.Message)
	}
	for i := range g.Candidates {
		c := &g.Candidates[i]
		if c.Index != 0 {
			continue // we never request more than one
		}
		for j := range c.Content.Parts {
			if err := a.part(&c.Content.Parts[j]); err != nil {
				return err
			}
		}
		if err := a.end(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) part(p *piece) error {
	if p.Call != nil {
		return a.call(p)
	}
	if p.Thought {
		if p.Text == "" {
			return nil
		}
		a.thought.WriteString(p.Text)
		return a.yield(hermes.Delta{Reasoning: p.Text})
	}
	if p.Signature != "" {
		a.signature = p.Signature
	}
	if p.Text == "" {
		return nil
	}
	return a.yield(hermes.Delta{Text: p.Text})
}

func (a *answer) call(p *piece) error {
	if p.Call.Name != "" {
		a.named++
	}
	arguments := "{}"
	var args bytes.Buffer
	if json.Compact(&args, p.Call.Args) == nil && args.Bytes()[0] == '{' {
		arguments = args.String()
	}
	d := hermes.CallDelta{Index: a.calls, ID: a.ids.ID(p.Call.ID), Name: p.Call.Name, Arguments: arguments, Signature: p.Signature}
	a.calls++
	return a.yield(hermes.Delta{Call: &d})
}

// Close yields the end of the answer, and decides whether it is complete.
func (a *answer) Close(err error) error {
	err = base.Close(err, a.finish != "", a.events > 0)
	if err == nil {
		err = base.Named(a.calls, a.named)
	}
	if err == nil && a.signature != "" {
		block := &hermes.Reasoning{Protocol: protocolName, Text: a.thought.String(), Signature: a.signature}
		if stop := a.yield(hermes.Delta{Block: block}); stop != nil {
			return stop
		}
	}
	if a.usage != nil {
		if stop := a.yield.Spent(a.usage.tokens(), nil); stop != nil {
			return stop
		}
	}
	if err != nil {
		return err
	}
	if a.finish == hermes.FinishStop && a.calls > 0 {
		a.finish = hermes.FinishCalls
	}
	return a.yield(hermes.Delta{Finish: a.finish})
}
