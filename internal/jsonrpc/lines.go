package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Lines is a [Stream] of one message a line.
type Lines struct {
	rwc   io.ReadWriteCloser
	in    *bufio.Reader
	most  int
	skip  bool
	lost  int // bytes that were skipped since the last message
	out   []byte
	close sync.Once
	err   error // of closing
}

// NewLines returns the messages of a connection or pipe, whose Close must end a Read or Write
// that runs. A line has at most so many bytes.
func NewLines(rwc io.ReadWriteCloser, most int) *Lines {
	return &Lines{rwc: rwc, in: bufio.NewReaderSize(rwc, 16<<10), most: most}
}

// maxSkipped is how much is skipped before the other side is taken for one that sends no messages
// any more, in bytes, where each line counts 64 more: to skip without end would keep a processor busy.
const maxSkipped = 64 << 20

// Tolerant makes Read skip lines that hold no JSON object, for programs that also log there: up to
// 64 MiB between two messages. It returns the stream.
func (l *Lines) Tolerant() *Lines {
	l.skip = true
	return l
}

// Limit changes how many bytes a line may have. Whoever reads may call it.
func (l *Lines) Limit(most int) { l.most = most }

// Read returns the next line that is not empty.
func (l *Lines) Read() ([]byte, error) {
	for {
		line, err := l.line()
		if len(line) > 0 && (!l.skip || line[0] == '{' && json.Valid(line)) {
			l.lost = 0
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		if l.lost += len(line) + 64; l.lost > maxSkipped {
			return nil, fmt.Errorf("%w: %d MiB without a message", ErrGarbage, maxSkipped>>20)
		}
	}
}

// line returns a line without blanks around it. At the end of the input, one without its
// newline counts if it is complete.
func (l *Lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.most+1 { // one is the newline
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, l.most)
		}
		line = append(slices.Grow(line, len(part)), part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		line = bytes.TrimSpace(line)
		if errors.Is(err, io.EOF) && len(line) > 0 && !json.Valid(line) {
			return nil, io.ErrUnexpectedEOF
		}
		return line, err
	}
}

// Write writes messages, which contain no newline, in one piece.
func (l *Lines) Write(messages ...[]byte) error {
	l.out = l.out[:0]
	for _, m := range messages {
		l.out = append(append(l.out, m...), '\n')
	}
	_, err := l.rwc.Write(l.out)
	if cap(l.out) > 2*maxQueued {
		l.out = nil // it was a large one
	}
	return err
}

// Close closes the connection or pipe.
func (l *Lines) Close() error {
	l.close.Do(func() { l.err = l.rwc.Close() })
	return l.err
}

// pipes joins two pipes.
type pipes struct {
	io.Reader
	io.Writer
	closers []io.Closer
}

// Pipes joins what is read from and what is written to, such as the standard streams. Closing
// it closes both.
func Pipes(r io.ReadCloser, w io.WriteCloser) io.ReadWriteCloser {
	return pipes{r, w, []io.Closer{w, r}}
}

// Close closes both.
func (p pipes) Close() error {
	var errs []error
	for _, c := range p.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
