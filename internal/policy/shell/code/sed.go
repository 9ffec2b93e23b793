package code

import (
	"slices"
	"strings"

	"hermes/internal/lazy"
	"hermes/internal/policy/shell/getopt"
)

// SedScripts returns the scripts in the arguments of sed.
func SedScripts(rest []string) []string {
	rest = slices.Clone(rest)
	for i, a := range rest { // the rest of the word after -i ends the name of a copy
		if at := strings.IndexByte(a, 'i'); at > 0 && a[0] == '-' && a[1] != '-' && !strings.ContainsAny(a[:at], "ef") {
			rest[i] = a[:at+1]
		}
	}
	scripts := getopt.OptionValues(rest, "-e", "--expression")
	if words := getopt.PlainWords(rest); len(scripts) == 0 && len(words) > 0 && !getopt.HasShort(rest, "f") && !getopt.HasLong(rest, "--file") {
		return words[:1]
	}
	return scripts
}

// SedScript reads the commands of a script one after another.
type SedScript struct {
	Text  string
	at    int
	Runs  bool
	Files []string // files that it writes

	blanks bool // it deletes every line, or all text in each
}

// Read reads the whole script.
func (s *SedScript) Read() {
	for s.at < len(s.Text) {
		from := s.at
		s.address()
		every := everyLine(s.Text[from:s.at])
		if s.at >= len(s.Text) {
			return
		}
		c := s.Text[s.at]
		s.at++
		switch c {
		case 's':
			m := everyText().FindStringSubmatch(s.Text[s.at-1:])
			s.blanks = s.blanks || every && m != nil && m[1] == m[2] && m[2] == m[3]
			s.delimited(2)
			s.flags()
		case 'd':
			s.blanks = s.blanks || every
		case 'y':
			s.delimited(2)
		case 'e':
			s.Runs = true
			s.until("\n")
		case 'w', 'W':
			s.Files = append(s.Files, strings.TrimSpace(s.until("\n")))
		case 'r', 'R', 'a', 'i', 'c':
			s.until("\n")
		case ':', 'b', 't', 'T', 'q', 'Q', 'l', 'L':
			s.until(";\n}")
		}
	}
}

// address skips what says to which lines a command applies.
func (s *SedScript) address() {
	for s.at < len(s.Text) {
		switch c := s.Text[s.at]; {
		case c == '/':
			s.delimited(1)
		case c == '\\' && s.at+1 < len(s.Text):
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
func (s *SedScript) delimited(parts int) {
	if s.at >= len(s.Text) {
		return
	}
	delimiter := s.Text[s.at]
	s.at++
	class := false
	for s.at < len(s.Text) && parts > 0 {
		c := s.Text[s.at]
		s.at++
		switch {
		case c == '\\':
			s.at++
		case c == '[' && delimiter != '[':
			class = strings.IndexByte(s.Text[min(s.at+1, len(s.Text)):], ']') >= 0
		case c == ']':
			class = false
		case c == delimiter && !class:
			parts--
		}
	}
	s.at = min(s.at, len(s.Text))
}

// flags reads the flags of s.
func (s *SedScript) flags() {
	for s.at < len(s.Text) {
		c := s.Text[s.at]
		switch {
		case c == 'e':
			s.Runs = true
		case c == 'w':
			s.at++
			s.Files = append(s.Files, strings.TrimSpace(s.until("\n")))
			return
		case strings.IndexByte("gpimIM0123456789", c) < 0:
			return
		}
		s.at++
	}
}

// until skips to one of the ends and returns what it skipped.
func (s *SedScript) until(ends string) string {
	from := s.at
	for s.at < len(s.Text) && strings.IndexByte(ends, s.Text[s.at]) < 0 {
		s.at++
	}
	return s.Text[from:s.at]
}

// everyText is what sed's s looks for and puts there to delete the text of a line.
var everyText = lazy.Regexp(`^s(.)\^?\.[*+]\$?(.)(.)`)

// everyLine reports whether an address means all lines.
func everyLine(address string) bool {
	switch strings.Trim(address, " \t\n;{}") {
	case "", "1,$", "0,$", "1~1", "/.*/", "//", "/^/", "/$/":
		return true
	}
	return false
}

// Blanks reports whether a script of sed deletes every line or its text.
func Blanks(script string) bool {
	s := SedScript{Text: script}
	s.Read()
	return s.blanks
}
