package chain

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"hermes/internal/httpc"
)

// Amended returns a client that leaves out what an endpoint refuses: fields of
// the body and the header of the long context. It sends requests unchanged
// until something was refused.
func Amended(client *http.Client, known *Quirks) *http.Client {
	return httpc.Through(client, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		fields, shortContext := known.unsent()
		if len(fields) == 0 && !shortContext || req.Method != http.MethodPost || signed(req) {
			return next.RoundTrip(req)
		}
		req = req.Clone(req.Context()) // a RoundTripper must not change its request
		if shortContext {
			dropBeta(req.Header, "context-1m")
		}
		if len(fields) > 0 && req.Body != nil {
			body, err := io.ReadAll(req.Body)
			_ = req.Body.Close()
			if err != nil {
				return nil, err
			}
			body = without(body, fields)
			req.Body = io.NopCloser(bytes.NewReader(body))
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			req.ContentLength = int64(len(body))
		}
		return next.RoundTrip(req)
	})
}

// signed reports whether the body is covered by a signature.
func signed(req *http.Request) bool {
	return strings.HasPrefix(req.Header.Get("Authorization"), "AWS4-")
}

// dropBeta removes the beta features with this prefix.
func dropBeta(h http.Header, prefix string) {
	const name = "Anthropic-Beta"
	var kept []string
	for _, line := range h.Values(name) {
		for beta := range strings.SplitSeq(line, ",") {
			if beta = strings.TrimSpace(beta); beta != "" && !strings.HasPrefix(beta, prefix) {
				kept = append(kept, beta)
			}
		}
	}
	h.Del(name)
	if len(kept) > 0 {
		h.Set(name, strings.Join(kept, ","))
	}
}

// without returns a JSON object without the named fields. All other bytes stay
// the same, so that a prompt cache still matches. Anything but an object is
// returned unchanged.
func without(body []byte, fields []string) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return body
	}
	out := append(make([]byte, 0, len(body)), body[:dec.InputOffset()]...)
	first := true
	for dec.More() {
		from := dec.InputOffset()
		key, err := dec.Token()
		if err != nil {
			return body
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return body
		}
		name, _ := key.(string)
		if slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, name) }) {
			continue
		}
		piece := bytes.TrimLeft(body[from:dec.InputOffset()], ", \t\r\n")
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, piece...)
	}
	return append(out, body[dec.InputOffset():]...)
}
