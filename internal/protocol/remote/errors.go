package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
)

// ErrKey is for Server.Admit: the key of the client is wrong or missing. Dial returns it, too.
var ErrKey = errors.New("the key is wrong")

// ErrVersion means that client and server speak different versions of the protocol.
var ErrVersion = errors.New("the other side speaks another version of the protocol")

// codeFailed is the code of all errors that have a class.
const codeFailed = -32000

// classes are the errors that callers decide by, each with its class on the connection. The
// first that fits counts.
var classes = []struct {
	class string
	err   error
}{
	{"key", ErrKey},
	{"version", ErrVersion},
	{"stale_lease", hermes.ErrStaleLease},
	{"leased", hermes.ErrLeased},
	{"closed", hermes.ErrClosed},
	{"not_found", hermes.ErrNotFound},
	{"ambiguous", hermes.ErrAmbiguous},
	{"title_taken", hermes.ErrTitleTaken},
	{"no_model", hermes.ErrNoModel},
	{"interrupted", hermes.ErrInterrupted},
	{"halted", hermes.ErrHalted},
	{"connection", protocol.ErrConnection},
}

// The classes of errors that carry more. A [hermes.Failure] has its own class.
const (
	classAnswered = "answered"
	classFixed    = "fixed"
)

// detail is the data of an error.
type detail struct {
	Class string `json:"class,omitempty"` // empty if no caller decides by it
	// Text and Hint are those of a failure; Text is the message of the error if it is empty.
	Text string `json:"text,omitempty"`
	Hint string `json:"hint,omitempty"`
	// By answered the question.
	By *hermes.From `json:"by,omitempty"`
	// Session and Parts are those of an error of fixed parts.
	Session string   `json:"session,omitempty"`
	Parts   []string `json:"parts,omitempty"`
}

// encodeError makes an error for the connection, from which decodeError makes one that callers
// cannot tell from err by errors.Is and errors.As. A hermes.ModelError becomes a
// hermes.Failure, as in events.
func encodeError(err error) error {
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok || err == nil {
		if ok {
			return refused
		}
		return nil
	}
	data, marshalErr := json.Marshal(detailOf(err))
	if marshalErr != nil {
		data = nil // it has texts only
	}
	return &jsonrpc.Error{Code: codeFailed, Message: err.Error(), Data: data}
}

func detailOf(err error) detail {
	if e, ok := errors.AsType[hermes.ErrAnswered](err); ok {
		return detail{Class: classAnswered, By: &e.By}
	}
	if e, ok := errors.AsType[hermes.ErrFixed](err); ok {
		return detail{Class: classFixed, Session: e.Session, Parts: e.Parts}
	}
	_, failed := errors.AsType[*hermes.Failure](err)
	if !failed {
		for _, c := range classes {
			if errors.Is(err, c.err) {
				return detail{Class: c.class}
			}
		}
		_, failed = errors.AsType[*hermes.ModelError](err)
	}
	if !failed {
		return detail{}
	}
	f := hermes.FailureOf(err)
	d := detail{Class: string(f.Class), Hint: f.Hint}
	if f.Error() != err.Error() {
		d.Text = f.Text
	}
	return d
}

// refusal is an error of the other side: its text, and the error that callers decide by.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

// decodeError returns the error of a call as the other side had it. What ended the connection
// is a [protocol.ErrConnection].
func decodeError(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, jsonrpc.ErrEnded):
		return fmt.Errorf("%w (%w)", protocol.ErrConnection, err)
	case !ok:
		return err
	}
	var d detail
	_ = json.Unmarshal(e.Data, &d) // what cannot be read has no class
	return &refusal{text: e.Message, cause: d.cause(e)}
}

func (d detail) cause(e *jsonrpc.Error) error {
	switch d.Class {
	case "":
		return e
	case classAnswered:
		var by hermes.From
		if d.By != nil {
			by = *d.By
		}
		return hermes.ErrAnswered{By: by}
	case classFixed:
		return hermes.ErrFixed{Session: d.Session, Parts: d.Parts}
	}
	for _, c := range classes {
		if c.class == d.Class {
			return c.err
		}
	}
	f := &hermes.Failure{Class: hermes.Class(d.Class), Text: d.Text, Hint: d.Hint}
	if f.Text == "" {
		f.Text = strings.TrimSuffix(e.Message, "; "+d.Hint)
	}
	return f
}
