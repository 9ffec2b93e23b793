package tui

// scroll is what is printed once into the terminal's scrollback, with blank
// lines between paragraphs.
type scroll struct {
	out       []string // not yet printed
	needBlank bool     // the next paragraph needs a blank line before it
	lastCall  string   // the tool of the last call line
}

// take returns the lines to print and forgets them.
func (s *scroll) take() []string {
	out := s.out
	s.out = nil
	return out
}

// say prints lines as their own paragraph.
func (s *scroll) say(lines ...string) {
	if len(lines) > 0 {
		s.line("", lines...)
	}
}

// line prints lines that may follow lines of the same kind without a blank
// line.
func (s *scroll) line(kind string, lines ...string) {
	if s.lastCall == "" || kind == "" {
		s.blank()
	}
	s.out = append(s.out, lines...)
	s.needBlank = true
	s.lastCall = kind
}

// blank ends the paragraph before.
func (s *scroll) blank() {
	if s.needBlank {
		s.out = append(s.out, "")
	}
	s.needBlank = false
}

// more prints further lines of the same paragraph.
func (s *scroll) more(lines []string) { s.out = append(s.out, lines...) }
