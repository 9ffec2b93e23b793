package cdp

import (
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
	// ErrTooLarge: the answer is longer than MaxMessage.
	ErrTooLarge = errors.New("the answer of the browser is too large")
)

// Error is what the browser answers to a call that it refuses. It is an ErrNoNode or an
// ErrDetached if it says so.
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
		return has("ould not find node", "o node with given id", "o node found", "ode is detached",
			"does not belong to the document", "annot find context", "xecution context was destroyed",
			"Inspected target navigated", "No frame", "Frame with the given")
	case ErrDetached:
		return has("Session with given id not found", "ot attached to an active page", "No target with given id")
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

// message is what the browser sends: an answer if ID is not 0, else an event.
type message struct {
	ID      int64           `json:"id"`
	Method  string          `json:"method"`
	Session string          `json:"sessionId"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`

	cut bool
}

func (m message) failure() error {
	switch {
	case m.cut:
		return ErrTooLarge
	case m.Error != nil:
		return m.Error
	}
	return nil
}

// parse reads a message. Of one that is not whole it reads the id only: it is an answer, or
// an event that is not told.
func parse(raw []byte, whole bool) (message, error) {
	if !whole {
		return message{ID: leadingID(raw), cut: true}, nil
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return message{}, err
	}
	return m, nil
}

// leadingID reads the id of an answer from its beginning, where browsers write it; 0 is none.
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
