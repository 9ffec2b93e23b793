package agent

import "strings"

// thinkTags are the tags in which some models write their thinking into the
// text itself.
var thinkTags = []string{"think", "thinking", "reasoning", "REASONING_SCRATCHPAD"}

// splitter parts streamed text into what is visible and what is thinking. A
// block opens where a line begins with its tag, so that a mention in prose
// stays. What may still become a tag is held back until it is decided.
type splitter struct {
	held     string
	inside   string // the tag whose block is open
	midline  bool   // visible text has been written since the last line break
	wroteAny bool
}

// feed takes the next piece of text and returns what of it is decided.
func (s *splitter) feed(text string) (visible, thinking string) {
	if s.inside == "" && s.held == "" && !strings.Contains(text, "<") {
		return s.show(text), ""
	}
	s.held += text
	var v, t strings.Builder
	for s.step(&v, &t) {
	}
	return v.String(), t.String()
}

// flush returns what was held back when the text has ended.
func (s *splitter) flush() (visible, thinking string) {
	rest := s.held
	s.held = ""
	if s.inside != "" {
		return "", rest
	}
	return s.show(rest), ""
}

// step decides the next piece of what is held; false means it must wait.
func (s *splitter) step(v, t *strings.Builder) bool {
	if s.held == "" {
		return false
	}
	if s.inside != "" {
		return s.stepInside(t)
	}
	i := strings.IndexByte(s.held, '<')
	if i < 0 {
		v.WriteString(s.show(s.held))
		s.held = ""
		return false
	}
	v.WriteString(s.show(s.held[:i]))
	s.held = s.held[i:]
	tag, decided := openTag(s.held)
	if !decided {
		return false
	}
	if tag == "" || s.midline {
		v.WriteString(s.show(s.held[:1]))
		s.held = s.held[1:]
		return true
	}
	s.inside = tag
	s.held = s.held[len(tag)+2:]
	return true
}

func (s *splitter) stepInside(t *strings.Builder) bool {
	end := "</" + s.inside + ">"
	if i := indexFold(s.held, end); i >= 0 {
		t.WriteString(s.held[:i])
		s.held = strings.TrimLeft(s.held[i+len(end):], "\n")
		s.inside = ""
		return true
	}
	keep := len(end) - 1
	if len(s.held) > keep {
		t.WriteString(s.held[:len(s.held)-keep])
		s.held = s.held[len(s.held)-keep:]
	}
	return false
}

// show notes where visible text stands and returns it.
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

// openTag looks whether text begins with a thinking tag. Undecided means that
// more text is needed.
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
