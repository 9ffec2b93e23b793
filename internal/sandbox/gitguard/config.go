package gitguard

import (
	"errors"
	"strings"
)

// entry is one setting in a configuration file of git.
type entry struct {
	name       string // section.subsection.key; only the subsection keeps its case
	value      string // "true" if there is none
	start, end int    // where it is in the text, without the end of the line
}

var errConfig = errors.New("not a configuration file of git")

// parse reads a configuration file as git does. It refuses what git refuses, so that
// nothing is harmless here and something else for git.
func parse(text []byte) ([]entry, error) {
	p := parser{text: strings.TrimPrefix(string(text), "\ufeff")}
	p.skipped = len(text) - len(p.text)
	var out []entry
	section := ""
	for {
		p.blanks(" \t\n\r\v\f")
		start := p.at
		c, ok := p.next()
		switch {
		case !ok:
			return out, nil
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			var err error
			if section, err = p.section(); err != nil {
				return nil, err
			}
		case !letter(c) || section == "":
			return nil, errConfig
		default:
			p.at = start
			e, err := p.entry(section)
			if err != nil {
				return nil, err
			}
			e.start, e.end = start+p.skipped, p.at+p.skipped
			out = append(out, e)
		}
	}
}

type parser struct {
	text    string
	at      int
	skipped int // bytes of the mark before the text
}

// next returns the next byte. A carriage return before a line feed does not count.
func (p *parser) next() (byte, bool) {
	if strings.HasPrefix(p.text[p.at:], "\r\n") {
		p.at++
	}
	if p.at >= len(p.text) {
		return 0, false
	}
	p.at++
	return p.text[p.at-1], true
}

func (p *parser) peek() byte {
	at := p.at
	c, _ := p.next()
	p.at = at
	return c
}

func (p *parser) blanks(set string) {
	for p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}

// line goes to the end of the line.
func (p *parser) line() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i
		return
	}
	p.at = len(p.text)
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func keyByte(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '-' }

// section reads a header after its bracket.
func (p *parser) section() (string, error) {
	start := p.at
	for {
		c, ok := p.next()
		name := strings.ToLower(p.text[start:max(start, p.at-1)])
		switch {
		case !ok:
			return "", errConfig
		case c == ']' && name != "":
			return name, nil
		case c == ' ' || c == '\t':
			return p.subsection(name)
		case !keyByte(c) && c != '.':
			return "", errConfig
		}
	}
}

func (p *parser) subsection(name string) (string, error) {
	p.blanks(" \t\r\v\f")
	if c, _ := p.next(); c != '"' || name == "" {
		return "", errConfig
	}
	var b strings.Builder
	for {
		c, ok := p.next()
		if c == '\\' {
			c, ok = p.next()
		} else if c == '"' {
			break
		}
		if !ok || c == '\n' || c == 0 {
			return "", errConfig
		}
		b.WriteByte(c)
	}
	if c, _ := p.next(); c != ']' {
		return "", errConfig
	}
	return name + "." + b.String(), nil
}

// entry reads a key and its value.
func (p *parser) entry(section string) (entry, error) {
	start := p.at
	for p.at < len(p.text) && keyByte(p.text[p.at]) {
		p.at++
	}
	e := entry{name: section + "." + strings.ToLower(p.text[start:p.at]), value: "true"}
	p.blanks(" \t")
	switch c := p.peek(); {
	case c == '\n' || p.at >= len(p.text):
		return e, nil
	case c != '=':
		return e, errConfig
	}
	p.at++
	var err error
	e.value, err = p.value()
	return e, err
}

// value reads the rest of a line, and of following ones after a backslash.
func (p *parser) value() (string, error) {
	var b strings.Builder
	quoted, solid := false, 0 // solid is the length without blanks at the end
	for {
		if c := p.peek(); c == '\n' || p.at >= len(p.text) {
			if quoted {
				return "", errConfig
			}
			return b.String()[:solid], nil
		}
		c, _ := p.next()
		switch {
		case c == 0:
			return "", errConfig
		case !quoted && strings.IndexByte(" \t\r\v\f", c) >= 0:
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.line()
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			c, ok := p.next()
			if !ok {
				return "", errConfig
			}
			if c == '\n' {
				continue
			}
			i := strings.IndexByte(`tbn\"`, c)
			if i < 0 {
				return "", errConfig
			}
			b.WriteByte("\t\b\n\\\""[i])
		default:
			b.WriteByte(c)
		}
		solid = b.Len()
	}
}

// write returns a setting as a text that parse reads as the same.
func write(name, value string) string {
	first, last := strings.IndexByte(name, '.'), strings.LastIndexByte(name, '.')
	head := "[" + name[:first]
	if last > first {
		head += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name[first+1:last]) + `"`
	}
	return head + "]\n\t" + name[last+1:] + ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + "\"\n"
}
