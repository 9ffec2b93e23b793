// Package message puts messages of MCP servers right before the Go SDK reads them. The SDK cannot
// read a request for input that has no params, as servers on the SDK for Python ask for roots, and
// it panics at one that is null.
//
// It changes nothing else, and does not bound what it reads: whoever hands in a body does. Start at
// Result.
package message

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"hermes/internal/httpc"
)

const (
	inputKey = "inputRequests"
	dataKey  = "data:"
)

// mayAsk reports whether some JSON may have requests for input: by their name, or by one that is
// written with escapes.
func mayAsk(raw []byte) bool {
	return bytes.Contains(raw, []byte(inputKey)) || bytes.Contains(raw, []byte(`\u`))
}

// Result returns the result of a call with params in each request for input, and without those
// that are null. A name that is there twice is there once afterwards.
func Result(result json.RawMessage) json.RawMessage {
	if !mayAsk(result) {
		return result
	}
	var fields, requests map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil {
		return json.RawMessage(`null`) // no result is like that
	}
	if _, asks := fields[inputKey]; !asks {
		return result
	}
	_ = json.Unmarshal(fields[inputKey], &requests) // what is no list of requests is none
	for key, raw := range requests {
		var request map[string]json.RawMessage
		if json.Unmarshal(raw, &request) != nil {
			continue // the SDK says what is wrong
		}
		switch params := request["params"]; {
		case request == nil:
			delete(requests, key)
			continue
		case len(params) > 0 && string(params) != "null":
			continue
		}
		request["params"] = json.RawMessage(`{}`)
		requests[key], _ = json.Marshal(request) // it was JSON
	}
	fields[inputKey], _ = json.Marshal(requests)
	out, err := json.Marshal(fields)
	if err != nil {
		return result
	}
	return out
}

// whole is Result for a message on the wire.
func whole(message []byte) []byte {
	if !mayAsk(message) {
		return message
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return []byte(`null`) // the SDK refuses it
	}
	if fields["result"] == nil {
		return message
	}
	fields["result"] = Result(fields["result"])
	out, err := json.Marshal(fields)
	if err != nil {
		return message
	}
	return out
}

// Answers returns a client with the messages in its answers, of JSON and of events, put right.
func Answers(c *http.Client) *http.Client {
	return httpc.Through(c, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
		case "text/event-stream":
			resp.Body = &messages{Closer: resp.Body, from: bufio.NewReader(resp.Body)}
		case "application/json":
			resp.Body = &messages{Closer: resp.Body, from: bufio.NewReader(resp.Body), single: true}
		}
		return resp, nil
	})
}

// messages is a body with messages: one, or one in each line of events. The body bounds them.
type messages struct {
	io.Closer
	from   *bufio.Reader
	single bool
	ready  []byte
	err    error
}

// Read reads on, at most to the end of a line.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.ready) == 0 && m.err == nil {
		if m.single {
			m.ready, m.err = io.ReadAll(m.from)
			if m.err == nil {
				m.ready, m.err = whole(m.ready), io.EOF
			}
			break
		}
		m.ready, m.err = m.from.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(m.ready, []byte(dataKey)); ok && mayAsk(data) {
			m.ready = append(append([]byte(dataKey), whole(bytes.TrimSpace(data))...), '\n')
		}
	}
	n := copy(p, m.ready)
	if m.ready = m.ready[n:]; len(m.ready) == 0 {
		return n, m.err
	}
	return n, nil
}
