package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// sed judges sed scripts: they can run programs (e, and the flag e of s) and write
// files (w, and the flag w of s).
func (j *judge) sed(rest []string) {
	for _, text := range sedScripts(rest) {
		s := sedScript{text: text}
		s.read()
		if s.runs {
			j.ask("option-exec", "runs a program from a sed script")
		}
		j.writeAll(s.files)
	}
}

// sedScripts returns the scripts in the arguments of sed.
func sedScripts(rest []string) []string {
	rest = slices.Clone(rest)
	for i, a := range rest { // the rest of the word after -i ends the name of a copy
		if at := strings.IndexByte(a, 'i'); at > 0 && a[0] == '-' && a[1] != '-' && !strings.ContainsAny(a[:at], "ef") {
			rest[i] = a[:at+1]
		}
	}
	scripts := optionValues(rest, "-e", "--expression")
	if words := plainWords(rest); len(scripts) == 0 && len(words) > 0 && !hasShort(rest, "f") && !hasLong(rest, "--file") {
		return words[:1]
	}
	return scripts
}

// sedScript reads the commands of a script one after another.
type sedScript struct {
	text  string
	at    int
	runs  bool
	files []string // files that it writes

	blanks bool // it deletes every line, or all text in each
}

// everyText is what sed's s looks for and puts there to delete the text of a line.
var everyText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^s(.)\^?\.[*+]\$?(.)(.)`)
})

func (s *sedScript) read() {
	for s.at < len(s.text) {
		from := s.at
		s.address()
		every := everyLine(s.text[from:s.at])
		if s.at >= len(s.text) {
			return
		}
		c := s.text[s.at]
		s.at++
		switch c {
		case 's':
			m := everyText().FindStringSubmatch(s.text[s.at-1:])
			s.blanks = s.blanks || every && m != nil && m[1] == m[2] && m[2] == m[3]
			s.delimited(2)
			s.flags()
		case 'd':
			s.blanks = s.blanks || every
		case 'y':
			s.delimited(2)
		case 'e':
			s.runs = true
			s.until("\n")
		case 'w', 'W':
			s.files = append(s.files, strings.TrimSpace(s.until("\n")))
		case 'r', 'R', 'a', 'i', 'c':
			s.until("\n")
		case ':', 'b', 't', 'T', 'q', 'Q', 'l', 'L':
			s.until(";\n}")
		}
	}
}

// everyLine reports whether an address means all lines.
func everyLine(address string) bool {
	switch strings.Trim(address, " \t\n;{}") {
	case "", "1,$", "0,$", "1~1", "/.*/", "//", "/^/", "/$/":
		return true
	}
	return false
}

// address skips what says to which lines a command applies.
func (s *sedScript) address() {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '/':
			s.delimited(1)
		case c == '\\' && s.at+1 < len(s.text):
			s.at++
			s.delimited(1)
		case strings.IndexByte(" \t\n;{},!$~+0123456789", c) >= 0, (c == 'I' || c == 'M') && s.at > 0:
			s.at++
		default:
			return
		}
	}
}

// delimited skips parts between the delimiter that comes next.
func (s *sedScript) delimited(parts int) {
	if s.at >= len(s.text) {
		return
	}
	delimiter := s.text[s.at]
	s.at++
	class := false
	for s.at < len(s.text) && parts > 0 {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '\\':
			s.at++
		case c == '[' && delimiter != '[':
			class = strings.IndexByte(s.text[min(s.at+1, len(s.text)):], ']') >= 0
		case c == ']':
			class = false
		case c == delimiter && !class:
			parts--
		}
	}
	s.at = min(s.at, len(s.text))
}

// flags reads the flags of s.
func (s *sedScript) flags() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == 'e':
			s.runs = true
		case c == 'w':
			s.at++
			s.files = append(s.files, strings.TrimSpace(s.until("\n")))
			return
		case strings.IndexByte("gpimIM0123456789", c) < 0:
			return
		}
		s.at++
	}
}

// until skips to one of the ends and returns what it skipped.
func (s *sedScript) until(ends string) string {
	from := s.at
	for s.at < len(s.text) && strings.IndexByte(ends, s.text[s.at]) < 0 {
		s.at++
	}
	return s.text[from:s.at]
}
