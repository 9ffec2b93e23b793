// Package sse reads event streams: Server-Sent Events and newline-delimited
// JSON, over any io.Reader.
//
// It owns framing only: line ends (LF, CRLF, CR), a byte order mark, comments
// and keepalives, data that spans several lines, and limits on the size of one
// event and of the whole stream. It must not know what an event means, and it
// has no clock: the underlying reader fails when its deadline passes (see
// httpc.Clocks).
//
// A Reader reuses its buffers, so that many small events cause no garbage.
// Start reading at Reader.Next.
package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// Default limits, used if a field of Limits is zero.
const (
	DefaultMaxEvent = 16 << 20
	DefaultMaxTotal = 64 << 20
)

// ErrTooLarge is returned, wrapped with the limit that was exceeded, when an
// event or the whole stream is larger than Limits allows.
var ErrTooLarge error = tooLarge{}

// tooLarge has a method that packages can check without importing this one.
type tooLarge struct{}

func (tooLarge) Error() string { return "the answer is too large" }

// TooLarge reports that the same request would fail in the same way again.
func (tooLarge) TooLarge() bool { return true }

// Limits bounds what a Reader reads, in bytes. A zero field means the default.
type Limits struct {
	MaxEvent int   // one event, its data and field names together
	MaxTotal int64 // everything read from the stream, comments included
}

// Event is one event of a stream.
type Event struct {
	Name string // the event field; empty if there was none
	// Data is the joined data of the event. It belongs to the Reader and is
	// valid until the next call of Next.
	Data []byte
	// Cut reports that the stream ended before the blank line that ends an
	// event. Some services omit that line after their last event, others were
	// cut off. The caller can find out by parsing Data.
	Cut bool
}

// Reader reads events. It is not safe for concurrent use.
type Reader struct {
	src   *bufio.Reader
	lim   Limits
	lines bool // newline-delimited JSON: each line is an event

	data    []byte // of the event being read
	spill   []byte // a line longer than the read buffer
	name    string
	total   int64
	hasData bool
	started bool
	skipLF  bool  // the last line ended in CR: an LF right after it belongs to it
	err     error // returned by every later call
}

// NewReader returns a Reader of Server-Sent Events.
func NewReader(r io.Reader, lim Limits) *Reader {
	if lim.MaxEvent <= 0 {
		lim.MaxEvent = DefaultMaxEvent
	}
	if lim.MaxTotal <= 0 {
		lim.MaxTotal = DefaultMaxTotal
	}
	return &Reader{src: bufio.NewReaderSize(r, 32<<10), lim: lim}
}

// NewLineReader returns a Reader of newline-delimited JSON: each line that is
// not blank is the Data of one event.
func NewLineReader(r io.Reader, lim Limits) *Reader {
	rd := NewReader(r, lim)
	rd.lines = true
	return rd
}

// Next returns the next event that has data. At the end of the stream it
// returns io.EOF. A failed read returns its error and drops the unfinished
// event. After an error every call returns the same error.
func (r *Reader) Next() (Event, error) {
	if r.err != nil {
		return Event{}, r.err
	}
	r.data, r.name, r.hasData = r.data[:0], "", false
	for {
		line, err := r.line()
		if err != nil && (err != io.EOF || len(line) == 0) {
			r.err = err
			if err == io.EOF && r.hasData {
				return Event{Name: r.name, Data: r.data, Cut: true}, nil
			}
			return Event{}, err
		}
		if err == io.EOF {
			r.err = io.EOF // the last line has no line end
		}
		done, ferr := r.field(line)
		if ferr != nil {
			r.err = ferr
			return Event{}, ferr
		}
		if done || (r.err == io.EOF && r.hasData) {
			return Event{Name: r.name, Data: r.data, Cut: r.err == io.EOF}, nil
		}
		if r.err != nil {
			return Event{}, r.err
		}
	}
}

// field reads one line and reports whether it completes an event.
func (r *Reader) field(line []byte) (done bool, err error) {
	if r.lines {
		line = bytes.TrimSpace(line)
		r.hasData = len(line) > 0
		r.data = append(r.data[:0], line...)
		return r.hasData, r.checkEvent()
	}
	if len(line) == 0 {
		if !r.hasData {
			r.name = "" // an event without data does not count
		}
		return r.hasData, nil
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) { // no allocation: the compiler sees the switch
	case "data":
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.hasData = true
		r.data = append(r.data, value...)
	case "event":
		if string(value) != r.name {
			r.name = eventName(value)
		}
	}
	return false, r.checkEvent()
}

func (r *Reader) checkEvent() error {
	if len(r.data)+len(r.name) > r.lim.MaxEvent {
		return fmt.Errorf("%w: one event is over %d bytes", ErrTooLarge, r.lim.MaxEvent)
	}
	return nil
}

// eventName returns the name as a string; the names of the common protocols
// are constants, so that they cost no allocation per event.
func eventName(b []byte) string {
	switch string(b) {
	case "content_block_delta":
		return "content_block_delta"
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "message":
		return "message"
	}
	return string(b)
}
