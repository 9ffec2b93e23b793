package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
)

// Version is the version of the protocol. It changes when a client that was written for the
// version before would misunderstand something. New events and new fields do not change it: a
// client ignores what it does not know.
const Version = 1

// kind is the form of one event or operation in JSON.
type kind[T any] struct {
	name   string // the name of its Go type in snake case
	of     reflect.Type
	decode func(json.RawMessage) (T, error)
}

func event[E hermes.Event](name string) kind[hermes.Event] {
	return kind[hermes.Event]{name, reflect.TypeFor[E](), func(raw json.RawMessage) (hermes.Event, error) {
		var e E
		if len(raw) == 0 {
			return e, nil
		}
		err := json.Unmarshal(raw, &e)
		return e, err
	}}
}

func op[O hermes.Op](name string) kind[hermes.Op] {
	return kind[hermes.Op]{name, reflect.TypeFor[O](), func(raw json.RawMessage) (hermes.Op, error) {
		var o O
		err := decodeStrict(raw, &o, field{typeField, reflect.TypeFor[string]()})
		return o, err
	}}
}

// events are all events, the frequent ones first.
var events = []kind[hermes.Event]{
	event[hermes.TextDelta]("text_delta"),
	event[hermes.ReasoningDelta]("reasoning_delta"),
	event[hermes.CallDeltaSeen]("call_delta_seen"),
	event[hermes.CallProgress]("call_progress"),
	event[hermes.TurnStarted]("turn_started"),
	event[hermes.StepStarted]("step_started"),
	event[hermes.Reset]("reset"),
	event[hermes.Notice]("notice"),
	event[hermes.CallStarted]("call_started"),
	event[hermes.CallDone]("call_done"),
	event[hermes.Appended]("appended"),
	event[hermes.Compacted]("compacted"),
	event[hermes.UsageUpdated]("usage_updated"),
	event[hermes.TurnDone]("turn_done"),
	event[hermes.Asked]("asked"),
	event[hermes.AnswerTaken]("answer_taken"),
	event[hermes.Escalated]("escalated"),
	event[hermes.Queued]("queued"),
	event[hermes.Steered]("steered"),
	event[hermes.Rewound]("rewound"),
	event[hermes.Titled]("titled"),
	event[hermes.Configured]("configured"),
	event[hermes.ModeChanged]("mode_changed"),
	event[hermes.CommandDone]("command_done"),
	event[hermes.Lagged]("lagged"),
	event[hermes.Closed]("closed"),
}

// ops are all operations.
var ops = []kind[hermes.Op]{
	op[hermes.Say]("say"),
	op[hermes.Steer]("steer"),
	op[hermes.Stop]("stop"),
	op[hermes.Reply]("reply"),
	op[hermes.Touch]("touch"),
	op[hermes.Continue]("continue"),
	op[hermes.Undo]("undo"),
	op[hermes.Retry]("retry"),
	op[hermes.Compress]("compress"),
	op[hermes.StartReview]("start_review"),
	op[hermes.SetModel]("set_model"),
	op[hermes.SetEffort]("set_effort"),
	op[hermes.SetMode]("set_mode"),
	op[hermes.RenewTools]("renew_tools"),
	op[hermes.SetTitle]("set_title"),
	op[hermes.Leave]("leave"),
}

// typeField is the field that names the kind of an operation.
const typeField = "type"

// envelope is an Envelope in JSON.
type envelope struct {
	Session string          `json:"session"`
	Parent  string          `json:"parent,omitempty"`
	Epoch   int64           `json:"epoch"`
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time,omitzero"`
	Type    string          `json:"type,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"`
}

// MarshalJSON returns the envelope as JSON with the kind of its event. An envelope
// without an event has neither.
func (e Envelope) MarshalJSON() ([]byte, error) {
	head, err := encode(envelope{Session: e.Session, Parent: e.Parent, Epoch: e.Epoch, Seq: e.Seq, Time: e.Time})
	if err != nil || e.Event == nil {
		return head, err
	}
	i := slices.IndexFunc(events, func(k kind[hermes.Event]) bool { return k.of == reflect.TypeOf(e.Event) })
	if i < 0 {
		return nil, fmt.Errorf("the event %T has no form in JSON", e.Event)
	}
	raw, err := encode(e.Event)
	if err != nil {
		return nil, fmt.Errorf("encode the event %s: %w", events[i].name, err)
	}
	b := slices.Grow(head[:len(head)-1], len(raw)+len(events[i].name)+24) // the event is not encoded twice
	b = append(append(append(b, `,"type":"`...), events[i].name...), `","event":`...)
	return append(append(b, raw...), '}'), nil
}

// UnmarshalJSON reads an envelope as a client does: fields that it does not know are ignored, and
// an event of a kind that it does not know is nil.
func (e *Envelope) UnmarshalJSON(raw []byte) error {
	in, err := readEnvelope(raw)
	if err != nil {
		return err
	}
	*e = Envelope{Session: in.Session, Parent: in.Parent, Epoch: in.Epoch, Seq: in.Seq, Time: in.Time}
	i := slices.IndexFunc(events, func(k kind[hermes.Event]) bool { return k.name == in.Type })
	if i < 0 {
		return nil
	}
	decoded, err := events[i].decode(in.Event)
	if err != nil {
		return fmt.Errorf("read the event %s: %w", in.Type, err)
	}
	e.Event = decoded
	return nil
}

// readEnvelope reads all but the event, which may be large and is decoded once only.
func readEnvelope(raw []byte) (in envelope, err error) {
	var event json.RawMessage
	head := []byte{'{'}
	plain := jsonrpc.Members(raw, func(name, value []byte) {
		if string(name) == "event" {
			event = value
			return
		}
		if len(head) > 1 {
			head = append(head, ',')
		}
		head = append(append(append(append(head, '"'), name...), `":`...), value...)
	})
	if !plain {
		return in, json.Unmarshal(raw, &in)
	}
	err = json.Unmarshal(append(head, '}'), &in)
	in.Event = event
	return in, err
}

// EncodeOp returns an operation as a JSON object whose field type names its kind. A message of
// the program has no such form.
func EncodeOp(o hermes.Op) (json.RawMessage, error) {
	i := slices.IndexFunc(ops, func(k kind[hermes.Op]) bool { return k.of == reflect.TypeOf(o) })
	if i < 0 {
		return nil, fmt.Errorf("the operation %T has no form in JSON", o)
	}
	if say, ok := o.(hermes.Say); ok && say.Synthetic {
		return nil, errors.New("a message of the program has no form in JSON")
	}
	fields, err := encode(o)
	if err != nil {
		return nil, fmt.Errorf("encode the operation %s: %w", ops[i].name, err)
	}
	head := `{"` + typeField + `":"` + ops[i].name + `"`
	if string(fields) != "{}" {
		head += ","
	}
	return append([]byte(head), fields[1:]...), nil
}

// DecodeOp reads an operation that a client sent. It is strict, like [DecodeStrict], and
// refuses kinds that it does not know.
func DecodeOp(raw []byte) (hermes.Op, error) {
	if err := checkJSON(raw); err != nil {
		return nil, err
	}
	var head struct {
		Type *string `json:"type"`
	}
	// An error is one of types, for which the strict decoder below has better words. It also
	// refuses a second type, which may be the one that was read here.
	if err := json.Unmarshal(raw, &head); err != nil || head.Type == nil {
		return nil, fmt.Errorf("%s: an operation is an object with a %s, which is a text", typeField, typeField)
	}
	i := slices.IndexFunc(ops, func(k kind[hermes.Op]) bool { return k.name == *head.Type })
	if i < 0 {
		return nil, fmt.Errorf("%s: there is no operation %q; there are %s", typeField, short(*head.Type), strings.Join(names(ops), ", "))
	}
	o, err := ops[i].decode(raw)
	if err != nil {
		return nil, err
	}
	if say, ok := o.(hermes.Say); ok && slices.ContainsFunc(say.Parts, func(p hermes.Part) bool { return p.Anchors != nil }) {
		return nil, errors.New("parts: anchors are set by the session only")
	}
	return o, nil
}

func names[T any](kinds []kind[T]) []string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = k.name
	}
	return list
}

// encode returns v as JSON without escaping <, > and &.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
