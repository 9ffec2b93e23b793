package cdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// What a caller decides by.
var (
	// ErrClosed: the browser has ended, or the connection to it.
	ErrClosed = errors.New("the browser has gone")
	// ErrDetached: the tab or frame of the session has been closed.
	ErrDetached = errors.New("the tab has been closed")
	// ErrCrashed: the tab or frame of the session has crashed.
	ErrCrashed = errors.New("the tab has crashed")
	// ErrNoNode: the node is not there any more, or its page.
	ErrNoNode = errors.New("the element is not on the page any more")
	// ErrMoved: the tab is just going to another page.
	ErrMoved = errors.New("the tab is going to another page")
	// ErrTooLarge: the answer is longer than MaxMessage.
	ErrTooLarge = errors.New("the answer of the browser is too large")
)

// Error is what the browser answers to a call that it refuses. It is an ErrNoNode, ErrDetached,
// ErrCrashed or ErrMoved if it says so.
type Error struct {
	Code    int
	Message string
	Data    string
}

func (e *Error) Error() string {
	if e.Data != "" {
		return e.Message + " (" + e.Data + ")"
	}
	return e.Message
}

// Is tells classes of answers apart. The browser has one code for most of them, so that only
// their texts do.
func (e *Error) Is(target error) bool {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(e.Message, p) {
				return true
			}
		}
		return false
	}
	switch target {
	case ErrNoNode:
		return has("ould not find node", "ould not find object", "o node with given id", "o node found", "ode is detached",
			"does not belong to the document", "annot find context", "xecution context was destroyed",
			"Inspected target navigated", "No frame", "Frame with the given")
	case ErrDetached:
		return has("Session with given id not found", "No target with given id")
	case ErrMoved:
		return has("ot attached to an active page")
	case ErrCrashed:
		return has("Target crashed")
	}
	return false
}

type request struct {
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
	Session string `json:"sessionId,omitempty"`
}

// message is what the browser sends: an answer if id is not 0, else an event.
type message struct {
	id              int64
	method, session string
	params, result  json.RawMessage
	err             *Error

	cut bool
}

func (m message) failure() error {
	switch {
	case m.cut:
		return ErrTooLarge
	case m.err != nil:
		return m.err
	}
	return nil
}

// parse reads a message. Of one that is not whole it reads the id only: it is an answer, or
// an event that is not told.
func parse(raw []byte, whole bool) (message, error) {
	if !whole {
		return message{id: leadingID(raw), cut: true}, nil
	}
	var m message
	err := members(raw, func(name string, value json.RawMessage) error {
		switch name {
		case "id":
			return json.Unmarshal(value, &m.id)
		case "method":
			return json.Unmarshal(value, &m.method)
		case "sessionId":
			return json.Unmarshal(value, &m.session)
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			return json.Unmarshal(value, &m.err)
		}
		return nil
	})
	return m, err
}

var errJSON = errors.New("it is no JSON object")

// members calls do with the members of an object. Answers have many megabytes, so that values
// are not looked into: who reads one finds out whether it is JSON.
func members(raw []byte, do func(name string, value json.RawMessage) error) error {
	rest := blank(raw)
	if len(rest) == 0 || rest[0] != '{' {
		return errJSON
	}
	rest = blank(rest[1:])
	if len(rest) > 0 && rest[0] == '}' && len(blank(rest[1:])) == 0 {
		return nil
	}
	for {
		n := length(rest)
		if n < 2 || rest[0] != '"' {
			return errJSON
		}
		name := string(rest[1 : n-1])
		if rest = blank(rest[n:]); len(rest) == 0 || rest[0] != ':' {
			return errJSON
		}
		rest = blank(rest[1:])
		if n = length(rest); n == 0 {
			return errJSON
		}
		if err := do(name, json.RawMessage(rest[:n:n])); err != nil {
			return err
		}
		if rest = blank(rest[n:]); len(rest) == 0 {
			return errJSON
		}
		if rest[0] == '}' && len(blank(rest[1:])) == 0 {
			return nil
		}
		if rest[0] != ',' {
			return errJSON
		}
		rest = blank(rest[1:])
	}
}

func blank(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// length returns how long the value is that begins here; 0 if it does not end.
func length(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringLength(b[i:])
			if n == 0 {
				return 0
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return i // behind a number or a word
			}
			if b[i] == '}' || b[i] == ']' {
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return 0
}

func stringLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// leadingID reads the id of an answer from its beginning, where browsers write it; 0 if it has none.
func leadingID(head []byte) int64 {
	rest, ok := strings.CutPrefix(string(head[:min(len(head), 40)]), `{"id":`)
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ",")
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
