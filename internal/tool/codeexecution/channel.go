package codeexecution

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

// markByte begins a mark in the output of a script; the token of its process follows.
const markByte = 0x1e

// The kinds of marks.
const (
	markMore = '+' // a piece of a message, which goes on
	markLast = '.' // the last piece of a message
	markEnd  = '!' // a script of a kernel has ended
)

// maxMark is the longest mark, in bytes. Pipes take less in one piece.
const maxMark = 1 << 16

// splitter takes the marks of a script's process out of one of its outputs. boot.py writes
// each mark in one piece, so that nothing else gets between. It is for one writer.
type splitter struct {
	begin []byte // of each mark: markByte and the token
	out   io.Writer
	// mark takes a mark. It must not block for long.
	mark func(kind byte, text []byte)

	held []byte // what may be the beginning of a mark
}

func newSplitter(token string, out io.Writer, mark func(kind byte, text []byte)) *splitter {
	return &splitter{begin: append([]byte{markByte}, token...), out: out, mark: mark}
}

func (s *splitter) Write(p []byte) (int, error) {
	if len(s.held) == 0 && bytes.IndexByte(p, markByte) < 0 {
		return s.out.Write(p)
	}
	text := append(s.held, p...)
	s.held = nil
	for len(text) > 0 {
		i := bytes.IndexByte(text, markByte)
		if i < 0 {
			i = len(text)
		}
		if _, err := s.out.Write(text[:i]); err != nil {
			return 0, err
		}
		text = text[i:]
		n, whole := s.take(text)
		if !whole {
			s.held = slices.Clone(text)
			break
		}
		text = text[n:]
	}
	return len(p), nil
}

// take takes the mark with which text begins and returns its length. A text that is no mark
// goes out up to its first byte. It reports false if more of it is needed.
func (s *splitter) take(text []byte) (n int, whole bool) {
	if len(text) == 0 {
		return 0, true
	}
	if !bytes.HasPrefix(text, s.begin[:min(len(text), len(s.begin))]) {
		_, _ = s.out.Write(text[:1])
		return 1, true
	}
	end := bytes.IndexByte(text, '\n')
	switch {
	case end < 0 && len(text) < maxMark:
		return 0, false
	case end <= len(s.begin):
		_, _ = s.out.Write(text[:1])
		return 1, true
	}
	s.mark(text[len(s.begin)], text[len(s.begin)+1:end])
	return end + 1, true
}

// flush writes what was held back.
func (s *splitter) flush() {
	if len(s.held) > 0 {
		_, _ = s.out.Write(s.held)
		s.held = nil
	}
}

// maxMessage is the longest message of a script, in bytes.
const maxMessage = 64 << 20

// streams is a channel over the streams of a command, for environments that can hand it no
// open file: what is written goes to its input, and its messages come as marks in its outputs.
type streams struct {
	*io.PipeReader                // messages
	input          *io.PipeReader // for the command
	send           *io.PipeWriter
	messages       *io.PipeWriter

	mu    sync.Mutex
	piece []byte // of a message
}

func newStreams() *streams {
	s := &streams{}
	s.PipeReader, s.messages = io.Pipe()
	s.input, s.send = io.Pipe()
	return s
}

func (s *streams) Write(p []byte) (int, error) { return s.send.Write(p) }

// Close ends reading and writing on both sides.
func (s *streams) Close() error {
	s.send.Close()
	s.input.Close()
	s.messages.Close()
	return nil
}

// or takes marks that are pieces of messages, and gives the others to rest.
func (s *streams) or(rest func(kind byte, text []byte)) func(kind byte, text []byte) {
	return func(kind byte, text []byte) {
		if kind != markMore && kind != markLast {
			rest(kind, text)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.piece = append(s.piece, text...)
		switch {
		case len(s.piece) > maxMessage:
			s.messages.CloseWithError(errTooLong)
			s.piece = nil
		case kind == markLast:
			_, _ = s.messages.Write(append(s.piece, '\n')) // fails only if the reading has ended
			s.piece = nil
		}
	}
}
