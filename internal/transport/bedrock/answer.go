package bedrock

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/transport/base"
)

// answer turns what the service sends into deltas. It is complete once the service
// sent a stop reason and every block has ended.
type answer struct {
	yield  base.Yield
	ids    base.Fresh
	open   map[int]*openBlock
	calls  int
	named  int // the calls with a tool name
	usage  *usage
	finish hermes.Finish
	events int
}

// openBlock is a content block that has begun.
type openBlock struct {
	isCall    bool
	call      int  // the index of a tool call
	pieces    bool // its input came in pieces
	thinking  []byte
	signature string
	redacted  []byte
}

func newAnswer(r *hermes.Request, yield base.Yield) *answer {
	return &answer{yield: yield, ids: base.FreshAfter(r.Messages), open: map[int]*openBlock{}}
}

// read reads the whole answer and yields it.
func (a *answer) read(x *httpc.Exchange) error {
	body := bufio.NewReader(x.Response.Body)
	kind, _, _ := mime.ParseMediaType(x.Response.Header.Get("Content-Type"))
	var err error
	switch first := base.First(body); {
	case kind == "application/vnd.amazon.eventstream":
		err = a.stream(body, x)
	case first == '{':
		err = a.whole(body)
	case first == '<':
		err = fault.ErrNotAPI
	default:
		err = a.stream(body, x)
	}
	if errors.Is(err, base.ErrStopped) {
		return err
	}
	return a.close(err)
}

func (a *answer) stream(body io.Reader, x *httpc.Exchange) error {
	decoder := eventstream.NewDecoder()
	buffer := make([]byte, 0, 4<<10)
	for a.finish == "" || a.usage == nil {
		msg, err := decoder.Decode(body, buffer[:0])
		if err != nil {
			return broken(err)
		}
		buffer = msg.Payload
		x.Alive()
		if err := a.message(msg); err != nil {
			return err
		}
		if a.finish != "" {
			x.Hurry(base.DrainTime * 25) // only the usage follows
		}
	}
	return nil
}

// broken distinguishes a stream that ended, or was cut off in a frame, from one
// that is not an event stream.
func broken(err error) error {
	switch {
	case err == io.EOF:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.ErrCut
	}
	if _, bad := errors.AsType[eventstream.ChecksumError](err); bad {
		return fmt.Errorf("%w: %w", fault.ErrGarbage, err)
	}
	if _, bad := errors.AsType[eventstream.LengthError](err); bad {
		return fmt.Errorf("%w: %w", fault.ErrGarbage, err)
	}
	return err
}

func (a *answer) message(msg eventstream.Message) error {
	switch header(msg, ":message-type") {
	case "exception":
		return exception(header(msg, ":exception-type"), append([]byte(nil), msg.Payload...))
	case "error":
		return refusal(statusOf(header(msg, ":error-code")), header(msg, ":error-message"))
	}
	a.events++
	var e event
	if len(msg.Payload) > 0 {
		if err := base.Decode(msg.Payload, false, &e); err != nil {
			return err
		}
	}
	return a.event(header(msg, ":event-type"), &e)
}

func header(msg eventstream.Message, name string) string {
	if v, ok := msg.Headers.Get(name).(eventstream.StringValue); ok {
		return string(v)
	}
	return ""
}

func (a *answer) event(kind string, e *event) error {
	switch kind {
	case "contentBlockStart":
		if e.Start.Use != nil {
			return a.begin(e.Index, e.Start.Use)
		}
	case "contentBlockDelta":
		return a.piece(e)
	case "contentBlockStop":
		return a.end(e.Index)
	case "messageStop":
		finish, err := finishOf(e.StopReason)
		a.finish = finish
		return err
	case "metadata":
		if e.Usage != nil {
			a.usage = e.Usage
		}
	}
	return nil
}

func (a *answer) begin(index int, u *useStart) error {
	if u.Name != "" {
		a.named++
	}
	a.open[index] = &openBlock{isCall: true, call: a.calls}
	a.calls++
	return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: a.calls - 1, ID: a.ids.ID(u.ID), Name: u.Name}})
}

func (a *answer) piece(e *event) error {
	b := a.open[e.Index]
	if b == nil { // text and reasoning are not announced
		b = &openBlock{}
		a.open[e.Index] = b
	}
	if u := e.Delta.Use; u != nil && u.Input != "" && b.isCall {
		b.pieces = true
		return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: b.call, Arguments: u.Input}})
	}
	if r := e.Delta.Reasoning; r != nil {
		b.signature += r.Signature
		b.redacted = append(b.redacted, r.Redacted...)
		if r.Text != "" {
			b.thinking = append(b.thinking, r.Text...)
			return a.yield(hermes.Delta{Reasoning: r.Text})
		}
	}
	if e.Delta.Text != "" {
		return a.yield(hermes.Delta{Text: e.Delta.Text})
	}
	return nil
}

// end completes a block. Blocks that must be sent back are yielded whole.
func (a *answer) end(index int) error {
	b := a.open[index]
	delete(a.open, index)
	switch {
	case b == nil:
	case b.isCall && !b.pieces:
		return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: b.call, Arguments: "{}"}})
	case len(b.redacted) > 0:
		return a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Opaque: base64.StdEncoding.EncodeToString(b.redacted)}})
	case b.signature != "":
		return a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Text: string(b.thinking), Signature: b.signature}})
	}
	return nil
}

// whole processes an answer that does not stream, as the equivalent events.
func (a *answer) whole(body io.Reader) error {
	var w whole
	raw, err := base.ReadWhole(body, &w)
	if err != nil {
		return err
	}
	if w.Output == nil {
		return &fault.Failure{Status: 200, Body: raw}
	}
	a.events++
	a.usage = w.Usage
	for i := range w.Output.Message.Content {
		if err := a.block(i, &w.Output.Message.Content[i]); err != nil {
			return err
		}
	}
	a.finish, err = finishOf(w.StopReason)
	return err
}

func (a *answer) block(index int, b *block) error {
	e := event{Index: index}
	e.Delta.Text = b.Text
	if r := b.Reasoning; r != nil {
		e.Delta.Reasoning = &reasoningDelta{Redacted: r.Redacted}
		if r.Text != nil {
			e.Delta.Reasoning.Text, e.Delta.Reasoning.Signature = r.Text.Text, r.Text.Signature
		}
	}
	if u := b.Use; u != nil {
		if err := a.begin(index, &useStart{u.ID, u.Name}); err != nil {
			return err
		}
		e.Delta.Use = &struct {
			Input string `json:"input"`
		}{string(base.Object(string(u.Input)))}
	}
	if err := a.piece(&e); err != nil {
		return err
	}
	return a.end(index)
}

// close yields the end of the answer, and decides whether it is complete.
func (a *answer) close(err error) error {
	err = base.Close(err, a.finish != "" && len(a.open) == 0, a.events > 0)
	if err == nil {
		err = base.Named(a.calls, a.named)
	}
	if a.usage != nil {
		if stop := a.yield(hermes.Delta{Usage: a.usage.tokens()}); stop != nil {
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
