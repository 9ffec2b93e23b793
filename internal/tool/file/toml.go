package file

import (
	"fmt"
	"strings"
)

// checkTOML checks the form of a TOML text: keys, values, brackets and quotes.
// It does not check meaning, such as a date that does not exist or a duplicate
// key.
func checkTOML(text string) (found []string) {
	t := &tomlText{rest: text, line: 1}
	for {
		t.blank(true)
		if t.rest == "" {
			return nil
		}
		if err := t.statement(); err != nil {
			return []string{fmt.Sprintf("line %d: %v", t.line, err)}
		}
	}
}

// tomlText is the unread rest of a text and its first line number.
type tomlText struct {
	rest string
	line int
}

func (t *tomlText) skip(n int) {
	t.line += strings.Count(t.rest[:n], "\n")
	t.rest = t.rest[n:]
}

func (t *tomlText) take(prefix string) bool {
	if !strings.HasPrefix(t.rest, prefix) {
		return false
	}
	t.skip(len(prefix))
	return true
}

// blank skips spaces and tabs, and with breaks also line breaks and comments.
func (t *tomlText) blank(breaks bool) {
	for t.rest != "" {
		switch c := t.rest[0]; {
		case c == ' ' || c == '\t' || c == '\r':
			t.skip(1)
		case c == '\n' && breaks:
			t.skip(1)
		case c == '#' && breaks:
			t.comment()
		default:
			return
		}
	}
}

func (t *tomlText) comment() {
	if i := strings.IndexByte(t.rest, '\n'); i >= 0 {
		t.rest = t.rest[i:]
		return
	}
	t.rest = ""
}

// statement reads a table header or a key and its value, up to the end of the line.
func (t *tomlText) statement() error {
	switch {
	case t.take("[["):
		if err := t.header("]]"); err != nil {
			return err
		}
	case t.take("["):
		if err := t.header("]"); err != nil {
			return err
		}
	default:
		if err := t.pair(); err != nil {
			return err
		}
	}
	t.blank(false)
	if t.rest != "" && t.rest[0] == '#' {
		t.comment()
	}
	if t.rest != "" && t.rest[0] != '\n' {
		return fmt.Errorf("expected the end of the line, found %q", clip(t.rest))
	}
	return nil
}

func (t *tomlText) header(end string) error {
	if err := t.key(); err != nil {
		return err
	}
	if !t.take(end) {
		return fmt.Errorf("expected %s after the table's name, found %q", end, clip(t.rest))
	}
	return nil
}

func (t *tomlText) pair() error {
	if err := t.key(); err != nil {
		return err
	}
	if !t.take("=") {
		return fmt.Errorf("expected = after the key, found %q", clip(t.rest))
	}
	t.blank(false)
	return t.value(0)
}

// key reads a key, dotted or not, and the blanks around it.
func (t *tomlText) key() error {
	for {
		t.blank(false)
		if t.rest != "" && (t.rest[0] == '"' || t.rest[0] == '\'') {
			if err := t.quoted(t.rest[:1], t.rest[0] == '"'); err != nil {
				return err
			}
		} else {
			n := 0
			for n < len(t.rest) && bareByte(t.rest[n]) {
				n++
			}
			if n == 0 {
				return fmt.Errorf("expected a key, found %q", clip(t.rest))
			}
			t.skip(n)
		}
		t.blank(false)
		if !t.take(".") {
			return nil
		}
	}
}

func bareByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// maxTOMLDepth bounds the nesting of arrays and tables.
const maxTOMLDepth = 200

func (t *tomlText) value(depth int) error {
	if depth > maxTOMLDepth {
		return fmt.Errorf("nested more than %d deep", maxTOMLDepth)
	}
	switch {
	case strings.HasPrefix(t.rest, `"""`):
		return t.quoted(`"""`, true)
	case strings.HasPrefix(t.rest, `'''`):
		return t.quoted(`'''`, false)
	case strings.HasPrefix(t.rest, `"`):
		return t.quoted(`"`, true)
	case strings.HasPrefix(t.rest, `'`):
		return t.quoted(`'`, false)
	case t.take("["):
		return t.list("]", func() error { return t.value(depth + 1) })
	case t.take("{"):
		return t.list("}", t.pair)
	}
	n := 0
	for n < len(t.rest) && (bareByte(t.rest[n]) || strings.IndexByte("+.:", t.rest[n]) >= 0) {
		n++
	}
	word := t.rest[:n]
	if n == 0 || !strings.ContainsAny(word[:1], "+-0123456789") && word != "true" && word != "false" && word != "inf" && word != "nan" {
		return fmt.Errorf("expected a value, found %q (strings need quotes)", clip(t.rest))
	}
	t.skip(n)
	if strings.HasPrefix(t.rest, " ") && len(t.rest) > 2 && len(word) == 10 && strings.Count(word, "-") == 2 && t.rest[1] >= '0' && t.rest[1] <= '9' {
		t.skip(1) // a date and a time with a blank between
		return t.value(depth)
	}
	return nil
}

// list reads items with commas between them up to end.
func (t *tomlText) list(end string, item func() error) error {
	for {
		t.blank(true)
		if t.take(end) {
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		t.blank(true)
		if t.take(end) {
			return nil
		}
		if !t.take(",") {
			return fmt.Errorf("expected a comma or %s, found %q", end, clip(t.rest))
		}
	}
}

// quoted reads a string from its opening quote to its closing one.
func (t *tomlText) quoted(mark string, escapes bool) error {
	for i := len(mark); i < len(t.rest); i++ {
		switch {
		case escapes && t.rest[i] == '\\':
			i++
		case len(mark) == 1 && t.rest[i] == '\n':
			return fmt.Errorf("a string is not closed with %s on its line", mark)
		case strings.HasPrefix(t.rest[i:], mark):
			i += len(mark)
			for len(mark) == 3 && i < len(t.rest) && t.rest[i] == mark[0] {
				i++ // up to two quotes may come before the closing ones
			}
			t.skip(i)
			return nil
		}
	}
	return fmt.Errorf("a string that begins with %s is never closed", mark)
}

func clip(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if short, cut := firstRunes(s, 40); cut {
		return short + "…"
	}
	return s
}
