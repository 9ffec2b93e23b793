package agent

import "strings"

// thinkTags are the tags that some models put around thinking in their text.
var thinkTags = []string{"think", "thinking", "reasoning", "REASONING_SCRATCHPAD"}

// splitter splits streamed text into visible text and thinking. A block opens
// only at the start of a line, so that a tag mentioned in prose stays visible.
// Text that may still become a tag is buffered until that is clear.
type splitter struct {
	buffer   string
	open     string // the tag whose block is open
	midline  bool   // visible text was written since the last line break
	wroteAny bool
}

// feed adds the next piece of text and returns all text that is decided.
func (s *splitter) feed(text string) (visible, thinking string) {
	if s.open == "" && s.buffer == "" && !strings.Contains(text, "<") {
		return s.show(text), ""
	}
	s.buffer += text
	var v, t strings.Builder
	for s.step(&v, &t) {
	}
	return v.String(), t.String()
}

// flush returns the buffered rest at the end of the text.
func (s *splitter) flush() (visible, thinking string) {
	rest := s.buffer
	s.buffer = ""
	if s.open != "" {
		return "", rest
	}
	return s.show(rest), ""
}

// step decides the next piece of the buffer; false means that it needs more
// text.
func (s *splitter) step(v, t *strings.Builder) bool {
	if s.buffer == "" {
		return false
	}
	if s.open != "" {
		return s.stepOpen(t)
	}
	i := strings.IndexByte(s.buffer, '<')
	if i < 0 {
		v.WriteString(s.show(s.buffer))
		s.buffer = ""
		return false
	}
	v.WriteString(s.show(s.buffer[:i]))
	s.buffer = s.buffer[i:]
	tag, decided := openTag(s.buffer)
	if !decided {
		return false
	}
	if tag == "" || s.midline {
		v.WriteString(s.show(s.buffer[:1]))
		s.buffer = s.buffer[1:]
		return true
	}
	s.open = tag
	s.buffer = s.buffer[len(tag)+2:]
	return true
}

func (s *splitter) stepOpen(t *strings.Builder) bool {
	end := "</" + s.open + ">"
	if i := indexFold(s.buffer, end); i >= 0 {
		t.WriteString(s.buffer[:i])
		s.buffer = strings.TrimLeft(s.buffer[i+len(end):], "\n")
		s.open = ""
		return true
	}
	keep := len(end) - 1
	if len(s.buffer) > keep {
		t.WriteString(s.buffer[:len(s.buffer)-keep])
		s.buffer = s.buffer[len(s.buffer)-keep:]
	}
	return false
}

// show returns visible text and keeps track of line starts.
func (s *splitter) show(text string) string {
	if !s.wroteAny {
		text = strings.TrimLeft(text, "\n")
	}
	if text == "" {
		return ""
	}
	s.wroteAny = true
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if len(last) < len(text) {
		s.midline = false
	}
	s.midline = s.midline || strings.TrimSpace(last) != ""
	return text
}

// openTag returns the thinking tag at the start of text, if any. If decided is
// false, it needs more text.
func openTag(text string) (tag string, decided bool) {
	for _, name := range thinkTags {
		full := "<" + name + ">"
		if len(text) >= len(full) && strings.EqualFold(text[:len(full)], full) {
			return name, true
		}
	}
	for _, name := range thinkTags {
		full := "<" + name + ">"
		if len(text) < len(full) && strings.EqualFold(text, full[:len(text)]) {
			return "", false
		}
	}
	return "", true
}

func indexFold(s, sub string) int {
	for i := 0; i+len(sub) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}
