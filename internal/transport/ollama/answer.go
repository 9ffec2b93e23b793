package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/sse"
	"hermes/internal/texttool"
	"hermes/internal/transport/base"
)

// chunk is a line of the answer, or a whole answer that does not stream.
type chunk struct {
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done   bool            `json:"done"`
	Reason string          `json:"done_reason"`
	Prompt base.Count      `json:"prompt_eval_count"`
	Output base.Count      `json:"eval_count"`
	Error  json.RawMessage `json:"error"`
}

// answer turns what a server sends into deltas. It is complete once the server
// sends done.
type answer struct {
	yield  base.Yield
	ids    base.Fresh
	scan   *texttool.Scanner // nil if the text cannot contain calls
	calls  int
	named  int // the calls with a tool name
	said   bool
	think  strings.Builder
	last   *chunk
	events int
}

func newAnswer(r *hermes.Request, yield base.Yield) *answer {
	return &answer{yield: yield, ids: base.FreshAfter(r.Messages), scan: base.TextCalls(r)}
}

// read reads the whole answer and yields it.
func (a *answer) read(x *httpc.Exchange) error {
	body := bufio.NewReader(x.Response.Body)
	err := fault.ErrNotAPI
	if base.First(body) != '<' {
		err = a.stream(sse.NewLineReader(body, sse.Limits{}), x)
	}
	if errors.Is(err, base.ErrStopped) {
		return err
	}
	return a.close(err)
}

func (a *answer) stream(r *sse.Reader, x *httpc.Exchange) error {
	for a.last == nil {
		ev, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		x.Alive()
		var c chunk
		if err := base.Decode(ev.Data, ev.Cut, &c); err != nil {
			return err
		}
		a.events++
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return &fault.Failure{Status: 200, Body: bytes.Clone(ev.Data)}
		}
		if err := a.chunk(&c); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) chunk(c *chunk) error {
	if t := c.Message.Thinking; t != "" {
		a.think.WriteString(t)
		if err := a.yield(hermes.Delta{Reasoning: t}); err != nil {
			return err
		}
	}
	if err := a.words(c.Message.Content); err != nil {
		return err
	}
	for _, call := range c.Message.Calls {
		arguments := "{}"
		var b bytes.Buffer
		if json.Compact(&b, call.Function.Arguments) == nil && b.Bytes()[0] == '{' {
			arguments = b.String()
		}
		if err := a.call(call.ID, call.Function.Name, arguments); err != nil {
			return err
		}
	}
	if c.Done {
		a.last = c
	}
	return nil
}

// words passes on text, and the calls that are written in it.
func (a *answer) words(text string) error {
	if text == "" {
		return nil
	}
	if a.scan == nil {
		return a.say(text)
	}
	return a.found(a.scan.Feed(text))
}

func (a *answer) found(prose string, calls []texttool.Call) error {
	if err := a.say(prose); err != nil {
		return err
	}
	for _, c := range calls {
		if err := a.call("", c.Name, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) say(text string) error {
	if text == "" {
		return nil
	}
	a.said = true
	return a.yield(hermes.Delta{Text: text})
}

func (a *answer) call(id, name, arguments string) error {
	d := hermes.CallDelta{Index: a.calls, ID: a.ids.ID(id), Name: name, Arguments: arguments}
	a.calls++
	if name != "" {
		a.named++
	}
	return a.yield(hermes.Delta{Call: &d})
}

// close yields the end of the answer, and decides whether it is complete.
func (a *answer) close(err error) error {
	err = base.Close(err, a.last != nil, a.events > 0)
	if err == nil && a.scan != nil {
		if stop := a.found(a.scan.End()); stop != nil {
			return stop
		}
	}
	if err == nil && a.nothing() {
		err = fault.ErrEmpty
	}
	if err == nil {
		err = base.Named(a.calls, a.named)
	}
	if err != nil {
		return err
	}
	if a.think.Len() > 0 {
		if stop := a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Text: a.think.String()}}); stop != nil {
			return stop
		}
	}
	usage := &hermes.Usage{Input: int64(a.last.Prompt), Output: int64(a.last.Output), Calls: 1}
	if stop := a.yield(hermes.Delta{Usage: usage}); stop != nil {
		return stop
	}
	return a.yield(hermes.Delta{Finish: a.why()})
}

// nothing reports whether the server has only loaded or unloaded the model.
func (a *answer) nothing() bool {
	return (a.last.Reason == "load" || a.last.Reason == "unload") && !a.said && a.calls == 0 && a.think.Len() == 0
}

func (a *answer) why() hermes.Finish {
	switch {
	case a.last.Reason == "length":
		return hermes.FinishLength
	case a.calls > 0:
		return hermes.FinishCalls
	}
	return hermes.FinishStop
}
