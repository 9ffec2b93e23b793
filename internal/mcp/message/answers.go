package message

import (
	"bufio"
	"bytes"
	"errors"
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

// maxBody bounds a message, or an event, where the body that it is in has no bound. Those of services have a
// lower one.
const maxBody = 32 << 20

var errTooLarge = errors.New("the server sent a message of more than 32 MiB, which is not read")

// messages is a body with messages: one, or one in each event.
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
			m.ready, m.err = io.ReadAll(io.LimitReader(m.from, maxBody+1))
			switch {
			case len(m.ready) > maxBody:
				m.ready, m.err = nil, errTooLarge
			case m.err == nil:
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
	var event, others, data []byte
	lines := 0 // of data
	for {
		line, err := m.line(maxBody - len(event))
		if err == errTooLarge {
			return nil, err
		}
		event = append(event, line...)
		field, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		switch {
		case string(field) == "data":
			if lines++; lines > 1 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimSpace(value)...)
		case len(bytes.TrimRight(line, "\r\n")) > 0:
			others = append(others, line...)
		}
		if err == nil && len(bytes.TrimRight(line, "\r\n")) > 0 {
			continue
		}
		if err != nil && err != io.EOF || lines == 0 {
			return event, err
		}
		right := m.bounds.whole(data)
		if bytes.Equal(right, data) {
			return event, err
		}
		if len(others) > 0 && others[len(others)-1] != '\n' {
			others = append(others, '\n')
		}
		return append(append(append(others, "data: "...), right...), "\n\n"...), err
	}
}

// line reads a line with its end, of at most so many bytes.
func (m *messages) line(most int) ([]byte, error) {
	var line []byte
	for {
		part, err := m.from.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errTooLarge
		}
		if line = append(line, part...); err != bufio.ErrBufferFull {
			return line, err
		}
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
