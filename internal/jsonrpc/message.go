package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The codes of errors that JSON-RPC defines.
const (
	CodeParse    = -32700 // not JSON
	CodeInvalid  = -32600 // not a request
	CodeNoMethod = -32601
	CodeParams   = -32602
	CodeInternal = -32603
)

// CodeBusy refuses a request because too many of the peer run.
const CodeBusy = -32001

// Error is an error that goes over the connection.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// message is any message that is read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// decode reads a message.
func decode(raw []byte) (m message, refused *Error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' && json.Valid(raw) {
		return m, &Error{Code: CodeInvalid, Message: "batches are not supported; send one message at a time"}
	}
	m, ok := fast(raw)
	if ok {
		return m, m.check()
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		if json.Valid(raw) {
			return m, &Error{Code: CodeInvalid, Message: fmt.Sprintf("this is no message of JSON-RPC 2.0: %v", err)}
		}
		return m, &Error{Code: CodeParse, Message: fmt.Sprintf("this is not JSON: %v", err)}
	}
	return m, m.check()
}

// check refuses a request with an id that cannot be one.
func (m message) check() *Error {
	if m.Method != "" && len(m.ID) > 0 && (m.ID[0] == '{' || m.ID[0] == '[') {
		return &Error{Code: CodeInvalid, Message: "the id of a request is a number or a text"}
	}
	return nil
}

// Raw is a value that is JSON already, on one line. It is sent as it is.
type Raw []byte

// MarshalJSON returns it.
func (r Raw) MarshalJSON() ([]byte, error) { return r, nil }

// marshal encodes params or a result.
func marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(Raw); ok {
		return json.RawMessage(raw), nil
	}
	return json.Marshal(v)
}

// key is the id of a response as ours are: some peers return a number as a text.
func (m message) key() string { return string(bytes.Trim(m.ID, `"`)) }

// encode writes a request, or a notification if id is empty. The params are compact JSON.
func encode(id, method string, params json.RawMessage) []byte {
	name, _ := json.Marshal(method) // a string has no error
	b := make([]byte, 0, len(params)+len(name)+len(id)+48)
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != "" {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	b = append(append(b, `"method":`...), name...)
	if string(params) != "null" {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// encodeReply writes a response. Without an id it has the id null.
func encodeReply(id json.RawMessage, result json.RawMessage, e *Error) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), ',')
	if e == nil {
		return append(append(append(b, `"result":`...), result...), '}')
	}
	raw, err := json.Marshal(e)
	if err != nil { // its data is not JSON
		raw, _ = json.Marshal(&Error{Code: e.Code, Message: e.Message})
	}
	return append(append(append(b, `"error":`...), raw...), '}')
}
