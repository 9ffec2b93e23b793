package pdf

import (
	"bytes"
	"math"
	"strconv"
)

// The objects of a file: nil, bool, float64, name, text, []any, dict, ref, *stream, and
// operator in content.
type (
	name     string
	text     string
	operator string
	dict     map[name]any
	ref      struct{ number, generation int }
)

// stream is an object with bytes, as they are in the file.
type stream struct {
	dict   dict
	raw    []byte
	offset int
	id     ref // for its key, if the file is encrypted
}

// maxNesting bounds lists and dictionaries in each other.
const maxNesting = 60

// lexer reads objects from bytes. It never fails: what it cannot read it skips.
type lexer struct {
	data    []byte
	at      int
	content bool  // words are operators, and there are no references
	work    *work // counts what is read
	depth   int
	items   int // in lists and dictionaries of the object that is read
}

// maxItems bounds the items in an object and all below it. Further ones are left out.
const maxItems = 500_000

type delimiter string

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func regular(c byte) bool {
	return !space(c) && c != '(' && c != ')' && c != '<' && c != '>' && c != '[' && c != ']' && c != '{' && c != '}' && c != '/' && c != '%'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (l *lexer) skipSpace() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case space(c):
			l.at++
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// next returns the next object, and false at the end, or if the file makes too much work.
func (l *lexer) next() (any, bool) {
	if l.depth > 0 {
		return l.object()
	}
	if l.work.done {
		return nil, false
	}
	from := l.at
	l.items = 0
	v, ok := l.object()
	l.work.bytes(l.at - from)
	l.work.spend(l.items >> 1)
	return v, ok
}

func (l *lexer) object() (any, bool) {
	l.skipSpace()
	if l.at >= len(l.data) {
		return nil, false
	}
	switch c := l.data[l.at]; c {
	case '/':
		l.at++
		return name(l.name()), true
	case '(':
		l.at++
		return text(l.literal()), true
	case '<':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '<' {
			l.at += 2
			return l.dict(), true
		}
		l.at++
		return text(l.hex()), true
	case '[':
		l.at++
		return l.array(), true
	case '>':
		l.at++
		if l.at < len(l.data) && l.data[l.at] == '>' {
			l.at++
		}
		return delimiter(">>"), true
	case ']', ')', '{', '}':
		l.at++
		return delimiter(c), true
	}
	from := l.at
	for l.at < len(l.data) && regular(l.data[l.at]) {
		l.at++
	}
	word := l.data[from:l.at]
	if c := word[0]; digit(c) || c == '-' || c == '+' || c == '.' {
		n := number(word)
		if !l.content && digit(c) {
			if r, ok := l.reference(n); ok {
				return r, true
			}
		}
		return n, true
	}
	switch string(word) {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	return operator(word), true
}

// reference reads the rest of "12 0 R".
func (l *lexer) reference(n float64) (ref, bool) {
	at := l.at
	for at < len(l.data) && space(l.data[at]) {
		at++
	}
	from := at
	for at < len(l.data) && at-from < 6 && digit(l.data[at]) {
		at++
	}
	if at == from {
		return ref{}, false
	}
	generation := number(l.data[from:at])
	from = at
	for at < len(l.data) && space(l.data[at]) {
		at++
	}
	if at == from || at >= len(l.data) || l.data[at] != 'R' || at+1 < len(l.data) && regular(l.data[at+1]) {
		return ref{}, false
	}
	l.at = at + 1
	return ref{whole(n), whole(generation)}, true
}

func number(word []byte) float64 {
	n, err := strconv.ParseFloat(string(word[:min(len(word), 40)]), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return max(min(n, 1e12), -1e12)
}

// whole returns a number as an int of moderate size.
func whole(v any) int {
	n, _ := v.(float64)
	return int(max(min(n, 1<<31), -1<<31))
}

func (l *lexer) name() string {
	from := l.at
	escaped := false
	for l.at < len(l.data) && regular(l.data[l.at]) {
		escaped = escaped || l.data[l.at] == '#'
		l.at++
	}
	raw := l.data[from:l.at]
	if !escaped {
		return string(raw)
	}
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if n, err := strconv.ParseUint(string(raw[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, raw[i])
	}
	return string(out)
}

func (l *lexer) literal() []byte {
	var out []byte
	open := 1
	for l.at < len(l.data) {
		c := l.data[l.at]
		l.at++
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return out
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return out
}

func (l *lexer) escape(out []byte) []byte {
	if l.at >= len(l.data) {
		return out
	}
	c := l.data[l.at]
	l.at++
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\r':
		if l.at < len(l.data) && l.data[l.at] == '\n' {
			l.at++
		}
		return out
	case '\n':
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	n := int(c - '0')
	for range 2 {
		if l.at >= len(l.data) || l.data[l.at] < '0' || l.data[l.at] > '7' {
			break
		}
		n = n*8 + int(l.data[l.at]-'0')
		l.at++
	}
	return append(out, byte(n))
}

func (l *lexer) hex() []byte {
	end := bytes.IndexByte(l.data[l.at:], '>')
	if end < 0 {
		end = len(l.data) - l.at
	}
	out := unhex(l.data[l.at : l.at+end])
	l.at = min(l.at+end+1, len(l.data))
	return out
}

func unhex(raw []byte) []byte {
	out := make([]byte, 0, len(raw)/2)
	high := -1
	for _, c := range raw {
		n := -1
		switch {
		case digit(c):
			n = int(c - '0')
		case 'a' <= c && c <= 'f':
			n = int(c-'a') + 10
		case 'A' <= c && c <= 'F':
			n = int(c-'A') + 10
		}
		switch {
		case n < 0:
		case high < 0:
			high = n
		default:
			out = append(out, byte(high<<4|n))
			high = -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return out
}

func (l *lexer) array() []any {
	defer l.enter()()
	list := []any{}
	for {
		v, ok := l.inner()
		if !ok || v == delimiter("]") {
			return list
		}
		switch v.(type) {
		case delimiter:
			continue
		case operator:
			if !l.content {
				return list // damaged
			}
		}
		if l.items++; !l.work.over(l.items >= maxItems) {
			list = append(list, v)
		}
	}
}

// enter goes into a list or dictionary. What it returns goes out.
func (l *lexer) enter() func() {
	l.depth++
	return func() { l.depth-- }
}

func (l *lexer) dict() dict {
	defer l.enter()()
	d := dict{}
	for {
		key, ok := l.inner()
		if !ok || key == delimiter(">>") {
			return d
		}
		k, isName := key.(name)
		if !isName {
			if _, damaged := key.(operator); damaged {
				return d
			}
			continue
		}
		v, ok := l.inner()
		if !ok || v == delimiter(">>") {
			return d
		}
		if _, odd := v.(delimiter); !odd && !l.work.over(l.items >= maxItems) {
			l.items++
			d[k] = v
		}
	}
}

// inner returns the next object in a list or dictionary. One that is nested too deeply ends all of them.
func (l *lexer) inner() (any, bool) {
	if l.depth > maxNesting {
		l.at = len(l.data)
		return nil, false
	}
	return l.next()
}
