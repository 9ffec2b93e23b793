// Package thinktag separates the thinking that some models write into their
// text, between tags such as <think> and </think>, from the text for the reader.
//
// It also understands half-marked thinking. Many chat templates end the prompt
// with the opening tag, so that the answer has only the closing one: then all
// text before it is thinking. The same rule covers nested blocks. A tag in a code
// block, in inline code or in quotation marks is content, and so is one that is
// only named in a sentence.
//
// The package must not know Hermes. Start at Splitter; tag.go has the tags, and
// position.go follows the Markdown of the text.
package thinktag

import (
	"bytes"
	"strings"
)

// Piece says what the next piece of a text was found to be.
type Piece struct {
	// Withdraw is how many bytes at the end of the text that earlier pieces
	// returned as Visible do not belong to it: they were thinking, which is in
	// Thinking now, or a tag.
	Withdraw int
	Visible  string
	Thinking string
}

// Splitter splits a streamed text. How the text is cut into pieces does not
// change the result. The zero value is ready to use. It is for one text and must
// not be used concurrently.
type Splitter struct {
	buffer string // what may still become a tag
	open   bool   // a block is open
	trim   bool   // line breaks that follow a block are left out
	begun  bool   // visible text other than line breaks came

	// since is the visible text since the last block, which began at base.
	since    []byte
	base     position
	returned int // bytes of since that earlier calls returned
	where    position
	placed   int // bytes of since that where is past
	// inner is an opening tag in since, within a line: a block only if its end
	// comes.
	inner *opening

	fixed    strings.Builder // visible text before the last block, not returned yet
	thinking strings.Builder // not returned yet
	withdraw int
}

// opening is an opening tag that was passed on as text.
type opening struct {
	start, end int // in the text
	where      position
	named      bool // it may be only named in a sentence
}

// Feed takes the next piece of the text and returns what is decided.
func (s *Splitter) Feed(text string) Piece {
	if s.buffer == "" && !s.open && nextTag(text) < 0 {
		p := Piece{Visible: s.show(text)}
		s.returned = len(s.since)
		return p
	}
	s.buffer += text
	for s.step(false) {
	}
	return s.piece()
}

// End returns the rest at the end of the text.
func (s *Splitter) End() Piece {
	for s.step(true) {
	}
	return s.piece()
}

// Split splits a whole text.
func Split(text string) (visible, thinking string) {
	var s Splitter
	a, b := s.Feed(text), s.End()
	return a.Visible[:len(a.Visible)-b.Withdraw] + b.Visible, a.Thinking + b.Thinking
}

func (s *Splitter) piece() Piece {
	p := Piece{Withdraw: s.withdraw, Visible: s.fixed.String() + string(s.since[s.returned:]), Thinking: s.thinking.String()}
	s.returned, s.withdraw = len(s.since), 0
	s.fixed.Reset()
	s.thinking.Reset()
	return p
}

// step decides on the next part of the buffer. It returns false if that needs
// more text.
func (s *Splitter) step(last bool) bool {
	if s.buffer == "" {
		return false
	}
	i := nextTag(s.buffer)
	if i < 0 {
		i = len(s.buffer)
	}
	if i > 0 {
		s.pass(s.buffer[:i])
		s.buffer = s.buffer[i:]
		return true
	}
	t, decided := tagAt(s.buffer)
	if !last && (!decided || t.width > 0 && len(s.buffer) == t.width) { // what follows a tag counts
		return false
	}
	if t.width == 0 || !s.take(t, s.buffer[t.width:]) {
		t.width = max(t.width, 1)
		s.pass(s.buffer[:t.width])
	}
	s.buffer = s.buffer[t.width:]
	return true
}

// take obeys a tag. It returns false if the tag is content.
func (s *Splitter) take(t tag, after string) bool {
	if s.open {
		if t.closes {
			s.open = false
			s.restart()
		}
		return t.closes
	}
	s.where.write(s.since[s.placed:])
	s.placed = len(s.since)
	switch {
	case s.where.inCode() || s.where.quoted(after):
		return false
	case t.closes && s.where.escaped(after):
		return false
	case t.closes && s.inner != nil && s.inner.where.quoted(after): // the whole block is
		s.inner = nil
		return false
	case t.closes && s.inner != nil && elided(s.since[s.inner.end:]):
		s.inner = nil
		return false
	case t.closes:
		return s.takeEnd(s.where.named(after))
	case s.where.midline:
		if s.inner == nil || s.inner.named {
			s.inner = &opening{start: len(s.since), end: len(s.since) + t.width, where: s.where, named: s.where.named(after)}
		}
		return false
	}
	s.restart()
	s.open = true
	return true
}

// elided reports a block that only shows its tags, as in <think>...</think>.
func elided(inside []byte) bool {
	inside = bytes.TrimSpace(inside)
	return len(inside) > 0 && len(bytes.Trim(inside, ".…")) == 0
}

// takeEnd obeys a closing tag without an open block: it ends the block that began
// within a line, or else all text since the last block was thinking.
func (s *Splitter) takeEnd(named bool) bool {
	o := opening{where: s.base}
	if s.inner != nil {
		o, named = *s.inner, named && s.inner.named
	}
	if named {
		return false
	}
	s.thinking.Write(s.since[o.end:])
	s.withdraw += max(0, s.returned-o.start)
	s.since = s.since[:o.start]
	s.returned = min(s.returned, o.start)
	s.where = o.where
	s.restart()
	return true
}

// restart begins the visible text before or after a block.
func (s *Splitter) restart() {
	s.fixed.Write(s.since[s.returned:])
	s.since, s.returned, s.placed, s.inner, s.base = s.since[:0], 0, 0, nil, s.where
	s.trim = !s.where.midline
}

// pass adds text without a tag to what is being written.
func (s *Splitter) pass(text string) {
	if s.open {
		s.thinking.WriteString(text)
		return
	}
	s.show(text)
}

// show adds visible text, and returns it without the line breaks that are left out.
func (s *Splitter) show(text string) string {
	if s.trim || !s.begun {
		text = strings.TrimLeft(text, "\r\n")
	}
	if text != "" {
		s.trim, s.begun = false, true
		s.since = append(s.since, text...)
	}
	return text
}

// Answer returns the visible text of a whole answer, trimmed. Unlike Split it
// leaves out a block within a line that has no end: the answer was cut there.
func Answer(text string) string {
	var s Splitter
	visible := s.Feed(text).Visible
	end := s.End()
	visible = visible[:len(visible)-end.Withdraw] + end.Visible
	if s.inner != nil && !s.inner.named {
		visible = visible[:len(visible)-len(s.since)+s.inner.start]
	}
	return strings.TrimSpace(visible)
}
