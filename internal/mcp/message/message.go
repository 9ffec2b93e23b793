// Package message puts messages of MCP servers right before the Go SDK reads them, and refuses those beyond
// [Bounds]. The SDK cannot read a request for input that has no params, as servers on the SDK for Python ask
// for roots, and it panics at one that is null.
//
// Programs and services have the same Bounds: those hand in each message, and these have a client whose
// answers are judged (answers.go). It does not bound the size of what it reads: whoever hands in a body
// does. Start at Bounds.
package message

import (
	"bytes"
	"encoding/json"
	"errors"
)

const inputKey = "inputRequests"

// mayAsk reports whether some JSON may have requests for input: by their name, or by one that is
// written with escapes.
func mayAsk(raw []byte) bool {
	return bytes.Contains(raw, []byte(inputKey)) || bytes.Contains(raw, []byte(`\u`))
}

// Result returns the result of a call with params in each request for input, and without those
// that are null. A name that is there twice is there once afterwards. An error says that there are too
// many.
func Result(result json.RawMessage) (json.RawMessage, error) {
	if !mayAsk(result) {
		return result, nil
	}
	var fields, requests map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil {
		return json.RawMessage(`null`), nil // no result is like that
	}
	if _, asks := fields[inputKey]; !asks {
		return result, nil
	}
	_ = json.Unmarshal(fields[inputKey], &requests) // what is no list of requests is none
	if len(requests) > mostQuestions || len(fields[inputKey]) > maxQuestions {
		return nil, errors.New("the server asks too much at the same time")
	}
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
		return nil, err
	}
	return out, nil
}
