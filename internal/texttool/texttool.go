// Package texttool finds the tool calls that small models write as text.
//
// Models on the user's own machine often write a call into the text instead of
// using the protocol's field for it: in tags, as an answer that is only JSON, or
// after a special word. A Scanner reads streamed text, passes on the prose, and
// extracts calls of tools that exist. Text that only looks like a call stays
// text, so that no text is lost.
//
// The package must not know Hermes. Start at Scanner; the forms of calls are in
// form.go.
package texttool

import (
	"bytes"
	"strings"
)

// maxHeld bounds the text that is held back while it may still be a call.
const maxHeld = 256 << 10

// Call is a call found in text. Arguments is a JSON object.
type Call struct {
	Name      string
	Arguments string
}

// Scanner separates text into prose and calls. It is for one answer and one
// goroutine.
type Scanner struct {
	known func(name string) bool
	held  []byte
	tag   *tag // the open form, until its end is found
	seen  int  // with a tag: how far it was searched for its end
	line  bool // prose was written since the last line break
	begun bool // prose other than blanks was written
	found bool
}

// New makes a scanner for tools with these names.
func New(known func(name string) bool) *Scanner { return &Scanner{known: known} }

// Feed takes the next piece of text and returns the prose and calls found so far.
func (s *Scanner) Feed(text string) (prose string, calls []Call) {
	if len(s.held) == 0 && s.tag == nil && s.begun && !strings.ContainsAny(text, "<[") {
		return s.show(text), nil
	}
	s.held = append(s.held, text...)
	var out strings.Builder
	for s.step(&out, &calls) {
	}
	if len(s.held) > maxHeld {
		out.WriteString(s.release())
	}
	return out.String(), calls
}

// End returns what was held back. The scanner must not be used after it.
func (s *Scanner) End() (prose string, calls []Call) {
	if s.tag != nil { // models sometimes forget the end tag
		if found := s.tag.parse(string(s.held[len(s.tag.open):]), s.known); len(found) > 0 {
			s.held, s.tag = nil, nil
			return "", found
		}
		return s.release(), nil
	}
	if !s.begun {
		if found := bare(string(s.held), s.known); len(found) > 0 {
			s.held = nil
			return "", found
		}
	}
	return s.release(), nil
}

func (s *Scanner) release() string {
	text := string(s.held)
	s.held, s.tag = nil, nil
	return s.show(text)
}

// step processes the next piece of the held text; false means it must wait.
func (s *Scanner) step(out *strings.Builder, calls *[]Call) bool {
	switch {
	case len(s.held) == 0:
		return false
	case s.tag != nil:
		return s.stepTag(out, calls)
	case !s.begun && mayBeBare(string(s.held[:min(len(s.held), 128)])):
		return false
	}
	i := bytes.IndexAny(s.held, "<[")
	if i < 0 {
		i = len(s.held)
	}
	out.WriteString(s.show(string(s.take(i))))
	if len(s.held) == 0 {
		return false
	}
	t, decided := openTag(string(s.held[:min(len(s.held), 32)]))
	if !decided {
		return false
	}
	if t == nil || s.line {
		out.WriteString(s.show(string(s.take(1))))
		return true
	}
	s.tag, s.seen = t, len(t.open)
	return true
}

// take removes the first n bytes of the held text.
func (s *Scanner) take(n int) []byte {
	head := s.held[:n]
	s.held = s.held[n:]
	return head
}

// stepTag looks for the end of the open form. A form without an end tag runs to
// the end of the answer.
func (s *Scanner) stepTag(out *strings.Builder, calls *[]Call) bool {
	if s.tag.close == "" {
		return false
	}
	i := bytes.Index(s.held[s.seen:], []byte(s.tag.close))
	if i < 0 {
		s.seen = max(len(s.tag.open), len(s.held)-len(s.tag.close)+1)
		return false
	}
	end := s.seen + i
	body := string(s.held[len(s.tag.open):end])
	found := s.tag.parse(body, s.known)
	whole := s.take(end + len(s.tag.close))
	s.tag = nil
	if len(found) == 0 {
		out.WriteString(s.show(string(whole)))
		return true
	}
	s.found = true
	*calls = append(*calls, found...)
	s.held = bytes.TrimLeft(s.held, "\r\n")
	return true
}

// show updates the state for a piece of prose and returns it.
func (s *Scanner) show(text string) string {
	if s.found && strings.TrimSpace(text) == "" {
		return "" // blanks between calls
	}
	if strings.TrimSpace(text) != "" {
		s.begun = true
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if len(last) < len(text) {
		s.line = false
	}
	s.line = s.line || strings.TrimSpace(last) != ""
	return text
}
