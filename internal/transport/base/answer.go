package base

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/sse"
)

// Answer turns what a service sends into deltas.
type Answer interface {
	// Event processes an event of a stream and reports whether it was the last
	// one. It tells the exchange (Alive) if the event is progress.
	Event(e sse.Event, x *httpc.Exchange) (last bool, err error)
	// Whole processes an answer that does not stream.
	Whole(body io.Reader) error
	// Close yields the end of an answer that was read with this outcome, and
	// decides whether it is complete.
	Close(err error) error
}

// Read reads the answer of an exchange to its end. Some services do not stream
// although they were asked to, and send another type than they say; an address
// that is not an API sends a web page.
func Read(x *httpc.Exchange, a Answer) error {
	body := bufio.NewReader(x.Response.Body)
	kind, _, _ := mime.ParseMediaType(x.Response.Header.Get("Content-Type"))
	var err error
	switch first := First(body); {
	case kind == "text/event-stream":
		err = events(sse.NewReader(body, sse.Limits{}), x, a)
	case kind == "application/x-ndjson", strings.HasPrefix(kind, "application/jsonl"):
		err = events(sse.NewLineReader(body, sse.Limits{}), x, a)
	case first == '{', first == '[':
		err = a.Whole(body)
	case first == '<':
		err = fault.ErrNotAPI
	default:
		err = events(sse.NewReader(body, sse.Limits{}), x, a)
	}
	if errors.Is(err, ErrStopped) {
		return err
	}
	return a.Close(err)
}

func events(r *sse.Reader, x *httpc.Exchange, a Answer) error {
	for {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if last, err := a.Event(e, x); last || err != nil {
			return err
		}
	}
}

// Spent yields what an answer used and what the service says that it costs; nil
// is left out.
func (y Yield) Spent(u *hermes.Usage, cost *hermes.Money) error {
	if u != nil {
		if err := y(hermes.Delta{Usage: u}); err != nil {
			return err
		}
	}
	if cost != nil {
		return y(hermes.Delta{Cost: cost})
	}
	return nil
}
