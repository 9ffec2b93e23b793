package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// Members calls each with the members of a JSON object, in order. It only looks for where they
// end, which is many times faster than decoding: whoever uses a value must decode it, and learns
// then whether it is JSON. It returns false if raw is not an object, or one whose names have
// escapes, which takes a decoder.
func Members(raw []byte, each func(name, value []byte)) bool {
	i := space(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return false
	}
	if i = space(raw, i+1); i < len(raw) && raw[i] == '}' {
		return space(raw, i+1) == len(raw)
	}
	for {
		name, next, ok := member(raw, i)
		if !ok {
			return false
		}
		end := valueEnd(raw, next)
		if end == next {
			return false
		}
		each(name, raw[next:end:end])
		i = space(raw, end)
		switch {
		case i == len(raw):
			return false
		case raw[i] == '}':
			return space(raw, i+1) == len(raw)
		case raw[i] != ',':
			return false
		}
		i = space(raw, i+1)
	}
}

// member reads the name of a member and finds where its value begins.
func member(raw []byte, i int) (name []byte, value int, ok bool) {
	if i == len(raw) || raw[i] != '"' {
		return nil, 0, false
	}
	end := textEnd(raw, i)
	if end < 0 {
		return nil, 0, false
	}
	name = raw[i+1 : end-1]
	if i = space(raw, end); i == len(raw) || raw[i] != ':' || bytes.IndexByte(name, '\\') >= 0 {
		return nil, 0, false
	}
	return name, space(raw, i+1), true
}

// space returns the position of the next byte that is no blank.
func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\r' || raw[i] == '\n') {
		i++
	}
	return i
}

// textEnd returns the position after a text that begins at i, or -1.
func textEnd(raw []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return -1
		}
		escapes := 0
		for j := i + n - 1; j >= i && raw[j] == '\\'; j-- {
			escapes++
		}
		if i += n; escapes%2 == 0 {
			return i + 1
		}
	}
}

// valueEnd returns the position after the value that begins at i, or i if there is none.
func valueEnd(raw []byte, i int) int {
	depth := 0
	for at := i; at < len(raw); {
		switch raw[at] {
		case '"':
			end := textEnd(raw, at)
			if end < 0 {
				return i
			}
			at = end
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return i
}

// fast reads a message in one pass, as far as that is possible.
func fast(raw []byte) (m message, ok bool) {
	var failed json.RawMessage
	plain := true
	ok = Members(raw, func(name, value []byte) {
		switch string(name) {
		case "id":
			m.ID = value
		case "method":
			if plain = len(value) > 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0; plain {
				m.Method = string(value[1 : len(value)-1])
			}
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			failed = value
		}
	})
	if !ok || !plain || m.ID != nil && !json.Valid(m.ID) {
		return message{}, false
	}
	if failed != nil && string(failed) != "null" {
		m.Error = &Error{}
		ok = json.Unmarshal(failed, m.Error) == nil
	}
	return m, ok
}
