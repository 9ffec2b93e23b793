package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

var bom = []byte{0xEF, 0xBB, 0xBF}

// line returns the next line without its end. The slice is valid until the
// next call. With io.EOF it returns the rest after the last line end, with any
// other error nothing.
func (r *Reader) line() ([]byte, error) {
	r.spill = r.spill[:0]
	for {
		buf, err := r.window()
		if err != nil {
			if err == io.EOF {
				return r.spill, io.EOF
			}
			return nil, err
		}
		n := lineEnd(buf)
		if n < 0 {
			r.spill = append(r.spill, buf...)
			if err := r.take(len(buf)); err != nil {
				return nil, err
			}
			if len(r.spill) > r.lim.MaxEvent {
				return nil, fmt.Errorf("%w: one event is over %d bytes", ErrTooLarge, r.lim.MaxEvent)
			}
			continue
		}
		r.skipLF = buf[n] == '\r'
		line := buf[:n]
		if len(r.spill) > 0 {
			r.spill = append(r.spill, line...)
			line = r.spill
		}
		// Discard keeps the bytes of the buffer in place until the next fill.
		return line, r.take(n + 1)
	}
}

// window returns the buffered bytes, at least one, without consuming them. It
// skips a byte order mark at the start and the LF of a CRLF.
func (r *Reader) window() ([]byte, error) {
	if !r.started {
		r.started = true
		if err := r.skipBOM(); err != nil {
			return nil, err
		}
	}
	for {
		if _, err := r.src.Peek(1); err != nil {
			return nil, err
		}
		buf := peekAll(r.src)
		if !r.skipLF {
			return buf, nil
		}
		r.skipLF = false
		if buf[0] != '\n' {
			return buf, nil
		}
		if err := r.take(1); err != nil {
			return nil, err
		}
	}
}

// skipBOM looks at one byte first, so that it never waits for three.
func (r *Reader) skipBOM() error {
	if head, _ := r.src.Peek(1); len(head) == 0 || head[0] != bom[0] {
		return nil
	}
	if head, _ := r.src.Peek(len(bom)); bytes.Equal(head, bom) {
		return r.take(len(bom))
	}
	return nil
}

// take consumes n bytes of the window and counts them.
func (r *Reader) take(n int) error {
	r.total += int64(n)
	if r.total > r.lim.MaxTotal {
		return fmt.Errorf("%w: over %d bytes in total", ErrTooLarge, r.lim.MaxTotal)
	}
	_, err := r.src.Discard(n)
	return err
}

func peekAll(r *bufio.Reader) []byte {
	buf, _ := r.Peek(r.Buffered())
	return buf
}

// lineEnd returns the index of the first CR or LF, or -1. Two passes of the
// vectorised IndexByte are much faster than one IndexAny.
func lineEnd(b []byte) int {
	n := bytes.IndexByte(b, '\n')
	if n >= 0 {
		b = b[:n]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return n
}
