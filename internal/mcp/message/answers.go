package message

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"

	wire "github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hermes/internal/httpc"
)

// Answers returns a client of one service with the messages in its answers, of JSON and of events, put
// right and within bounds.
func (b *Bounds) Answers(c *http.Client) *http.Client {
	return httpc.Through(c, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		b.sends(req)
		resp, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
		switch kind = strings.ToLower(strings.TrimSpace(kind)); {
		case kind == "text/event-stream", req.Method == http.MethodGet: // which the SDK reads as events, whatever it is
			resp.Body = &messages{Closer: resp.Body, from: bufio.NewReader(resp.Body), bounds: b}
		case kind == "application/json":
			resp.Body = &messages{Closer: resp.Body, from: bufio.NewReader(resp.Body), bounds: b, single: true}
		}
		return resp, nil
	})
}

// sends counts the message that a request brings to the server.
func (b *Bounds) sends(req *http.Request) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return
	}
	body, err := req.GetBody()
	if err != nil {
		return // so the request fails
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return
	}
	if m, err := wire.DecodeMessage(raw); err == nil {
		b.Sent(m)
	}
}

// messages is a body with messages: one, or one in each event. The body bounds them.
type messages struct {
	io.Closer
	from   *bufio.Reader
	bounds *Bounds
	single bool
	ready  []byte
	err    error
}

// Read reads on, at most to the end of an event.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.ready) == 0 && m.err == nil {
		if m.single {
			m.ready, m.err = io.ReadAll(m.from)
			if m.err == nil {
				m.ready, m.err = m.bounds.whole(m.ready), io.EOF
			}
			break
		}
		m.ready, m.err = m.event()
	}
	n := copy(p, m.ready)
	if m.ready = m.ready[n:]; len(m.ready) == 0 {
		return n, m.err
	}
	return n, nil
}

// event reads to the end of an event, and returns it with its data put right. Data may be on several lines.
func (m *messages) event() ([]byte, error) {
	var event, others []byte
	var data [][]byte
	for {
		line, err := m.from.ReadBytes('\n')
		event = append(event, line...)
		field, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		switch {
		case string(field) == "data":
			data = append(data, bytes.TrimSpace(value))
		case len(bytes.TrimRight(line, "\r\n")) > 0:
			others = append(others, line...)
		}
		if err == nil && len(bytes.TrimRight(line, "\r\n")) > 0 {
			continue
		}
		if err != nil && err != io.EOF || len(data) == 0 {
			return event, err
		}
		whole := bytes.Join(data, []byte("\n"))
		right := m.bounds.whole(whole)
		if bytes.Equal(right, whole) {
			return event, err
		}
		if len(others) > 0 && others[len(others)-1] != '\n' {
			others = append(others, '\n')
		}
		return append(append(append(others, "data: "...), right...), "\n\n"...), err
	}
}

// The methods of messages in place of those that are not handed on: the SDK refuses the one, and ignores
// the other.
const (
	refusedRequest = "refused: "
	refusedNotice  = "notifications/refused"
)

// whole returns a message on the wire as the SDK may read it. What is no message is as it was.
func (b *Bounds) whole(raw []byte) []byte {
	j, err := b.Received(raw)
	if err != nil || j.Same {
		if err != nil && mayAsk(raw) {
			return []byte(`null`) // the SDK refuses it, too
		}
		return raw
	}
	m := j.Message
	switch {
	case j.Refused != nil:
		m = &wire.Request{ID: j.Refused.ID, Method: refusedRequest + j.Refused.Error.Error()}
	case m == nil:
		m = &wire.Request{Method: refusedNotice}
	}
	out, err := wire.EncodeMessage(m)
	if err != nil {
		return []byte(`null`)
	}
	return out
}
