// Package dotenv reads and changes files of NAME=value lines, the .env files
// that hold secrets.
//
// Parse never fails as a whole: it reports a line that it does not understand and
// uses the others. Set and Unset (edit.go) change one name and keep every other
// byte, comments included. ${NAME} in a value is replaced unless the value is in
// single quotes; a bare $ is an ordinary character, because passwords have them.
//
// The package does not know what the names mean. Start at Parse.
package dotenv

import (
	"strings"
)

// File is a parsed .env file.
type File struct {
	// Values holds the last value of each name.
	Values map[string]string
	// Bad lists the lines that are not assignments or comments.
	Bad []Line
	// entries are the assignments in order.
	entries []entry
}

// Line is a line that was not understood.
type Line struct {
	Number int
	Reason string
}

// entry is one assignment: text[from:to] is all of it with its line break,
// text[at:end] is the value as written.
type entry struct {
	name          string
	from, to      int
	at, end, line int
}

// Parse reads a text. lookup resolves ${NAME} for names that the text has not set
// before; it may be nil. ${NAME} of an unknown name stays as written.
func Parse(text string, lookup func(string) (string, bool)) File {
	f := File{Values: map[string]string{}}
	p := parser{text: text, line: 1, file: &f, lookup: lookup}
	if strings.HasPrefix(text, "\ufeff") {
		p.at = len("\ufeff")
	}
	for p.at < len(text) {
		p.statement()
	}
	return f
}

type parser struct {
	text   string
	at     int
	line   int
	file   *File
	lookup func(string) (string, bool)
}

// statement reads one line, or several if a quoted value spans them.
func (p *parser) statement() {
	from, line := p.at, p.line
	p.skip(" \t")
	if p.at == len(p.text) || strings.IndexByte("#\r\n", p.text[p.at]) >= 0 {
		p.finish()
		return
	}
	name, ok := p.name()
	if !ok {
		p.bad(line, "no NAME=value here")
		return
	}
	at := p.at
	value, end, ok := p.value()
	if !ok {
		p.at, p.line = at, line
		p.bad(line, "missing closing quote")
		return
	}
	rest := p.restOfLine()
	if rest != "" && rest[0] != '#' {
		p.bad(line, "unexpected text after the closing quote")
		return
	}
	p.finish()
	p.file.Values[name] = value
	p.file.entries = append(p.file.entries, entry{name: name, from: from, to: p.at, at: at, end: end, line: line})
}

func (p *parser) bad(line int, reason string) {
	p.file.Bad = append(p.file.Bad, Line{Number: line, Reason: reason})
	p.finish()
}

// finish moves past the line break.
func (p *parser) finish() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i + 1
		p.line++
		return
	}
	p.at = len(p.text)
}

func (p *parser) skip(set string) {
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) name() (string, bool) {
	for _, word := range []string{"export ", "export\t"} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			p.skip(" \t")
			break
		}
	}
	start := p.at
	for p.at < len(p.text) && nameByte(p.text[p.at], p.at == start) {
		p.at++
	}
	name := p.text[start:p.at]
	p.skip(" \t")
	if name == "" || p.at == len(p.text) || p.text[p.at] != '=' {
		return "", false
	}
	p.at++
	p.skip(" \t")
	return name, true
}

func nameByte(b byte, first bool) bool {
	return b == '_' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' ||
		!first && ('0' <= b && b <= '9' || b == '.' || b == '-')
}

// ValidName reports whether a name may be used before the = sign.
func ValidName(name string) bool {
	for i := range len(name) {
		if !nameByte(name[i], i == 0) {
			return false
		}
	}
	return name != ""
}

// value reads what follows the = sign; end is the offset after it as written.
func (p *parser) value() (value string, end int, ok bool) {
	if p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"') {
		return p.quoted(p.text[p.at])
	}
	start := p.at
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		if p.text[p.at] == '#' && (p.at == start || strings.IndexByte(" \t", p.text[p.at-1]) >= 0) {
			break
		}
		p.at++
	}
	value = strings.TrimRight(p.text[start:p.at], " \t\r")
	return p.expand(value), start + len(value), true
}

func (p *parser) quoted(quote byte) (string, int, bool) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == quote:
			p.at++
			if quote == '"' {
				return p.expand(b.String()), p.at, true
			}
			return b.String(), p.at, true
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteString(unescape(p.text[p.at], quote))
		default:
			b.WriteByte(c)
		}
		if p.text[p.at] == '\n' {
			p.line++
		}
	}
	return "", 0, false
}

func unescape(c, quote byte) string {
	if c == quote || c == '\\' {
		return string(rune(c))
	}
	if quote == '"' {
		switch c {
		case 'n':
			return "\n"
		case 't':
			return "\t"
		case 'r':
			return "\r"
		}
	}
	return `\` + string([]byte{c})
}

func (p *parser) restOfLine() string {
	rest, _, _ := strings.Cut(p.text[p.at:], "\n")
	return strings.TrimSpace(rest)
}

// expand replaces ${NAME} and ${NAME:-otherwise}.
func (p *parser) expand(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		reference, after, closed := strings.Cut(rest, "}")
		name, otherwise, hasDefault := strings.Cut(reference, ":-")
		if !closed || !ValidName(name) {
			b.WriteString("${")
			s = rest
			continue
		}
		s = after
		switch value, ok := p.find(name); {
		case ok:
			b.WriteString(value)
		case hasDefault:
			b.WriteString(otherwise)
		default:
			b.WriteString("${" + reference + "}")
		}
	}
}

func (p *parser) find(name string) (string, bool) {
	if value, ok := p.file.Values[name]; ok {
		return value, true
	}
	if p.lookup == nil {
		return "", false
	}
	return p.lookup(name)
}
