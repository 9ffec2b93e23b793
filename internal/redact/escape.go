package redact

import "strings"

// escapes marks the bytes that may begin an escape.
var escapes = func() (t [256]bool) {
	for _, c := range `%\&=` {
		t[c] = true
	}
	return t
}()

// escapeBound is longer than any escape.
const escapeBound = 40

// decodeOne decodes the escape at i: %41, %2541 and deeper, \u0041, \u{41}, \x41,
// \101, \/, &#65;, &#x41;, &amp; and its kin, \\@ as a shell has it, =41 and a soft line break of
// quoted-printable text. size is 1 if there is no escape. A character beyond ASCII gives one
// byte of 0x80 or more. whole is false if the text ends within a possible escape.
func decodeOne(s string, i int) (c byte, size int, whole bool) {
	t := s[i:min(len(s), i+escapeBound)]
	cut := len(t) < escapeBound // what ends t ends the text
	switch t[0] {
	case '%':
		n := 1
		for strings.HasPrefix(t[n:], "25") && n < escapeBound-4 {
			n += 2
		}
		if c, ok := hexByte(t[n:]); ok {
			return c, n + 2, true
		}
		return t[0], n, !cut || len(t) >= n+2 || !hexPrefix(t[n:])
	case '=':
		if strings.HasPrefix(t, "=\n") {
			return '\n', 2, true
		}
		if c, ok := hexByte(t[1:]); ok && largeHex(t[1:3]) {
			return c, 3, true
		}
		return t[0], 1, !cut || len(t) >= 3 || !hexPrefix(t[1:])
	case '&':
		return decodeEntity(t, cut)
	}
	n := 1
	for n < len(t) && t[n] == '\\' && n < 16 {
		n++
	}
	if n == len(t) {
		return t[0], n, !cut
	}
	digits, most := "", 0
	switch t[n] {
	case '/', '\\', '"', '\'':
		return t[n], n + 1, true
	case 'x':
		digits, most = t[n+1:min(len(t), n+3)], 2
	case 'u':
		if n+1 < len(t) && t[n+1] == '{' {
			end := strings.IndexByte(t, '}')
			if end < 0 {
				return t[0], n, !cut || len(t) > n+10
			}
			if v, ok := number(t[n+2:end], 16); ok {
				return v, end + 1, true
			}
			return t[0], n, true
		}
		digits, most = t[n+1:min(len(t), n+5)], 4
	case '0', '1', '2', '3':
		digits := t[n:min(len(t), n+3)]
		if v, ok := number(digits, 8); ok && len(digits) == 3 {
			return v, n + 3, true
		}
		return t[0], n, !cut || len(digits) == 3
	default:
		if c := t[n]; c >= ' ' && c < 0x7f && class[c] != letterByte {
			return c, n + 1, true // as a shell quotes it
		}
		return t[0], n, true
	}
	if v, ok := number(digits, 16); ok && len(digits) == most {
		return v, n + 1 + most, true
	}
	return t[0], n, !cut || len(digits) == most || !hexPrefix(digits)
}

// entities are the names of characters in HTML that passwords have.
var entities = []struct {
	name string
	c    byte
}{
	{"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}, {"lt;", '<'}, {"gt;", '>'}, {"nbsp;", ' '}, {"sol;", '/'}, {"plus;", '+'},
	{"equals;", '='}, {"colon;", ':'}, {"semi;", ';'}, {"comma;", ','}, {"period;", '.'}, {"num;", '#'}, {"excl;", '!'},
	{"quest;", '?'}, {"dollar;", '$'}, {"percnt;", '%'}, {"lowbar;", '_'}, {"commat;", '@'}, {"ast;", '*'}, {"bsol;", '\\'},
	{"lpar;", '('}, {"rpar;", ')'}, {"Hat;", '^'}, {"vert;", '|'}, {"grave;", '`'}, {"lbrace;", '{'}, {"rbrace;", '}'}, {"lsqb;", '['}, {"rsqb;", ']'}, {"zwnj;", 0xe2}, {"shy;", 0xe2},
}

func decodeEntity(t string, cut bool) (byte, int, bool) {
	const longest = 10
	t = t[:min(len(t), longest)]
	end := strings.IndexByte(t, ';')
	if end < 0 {
		return t[0], 1, !cut || len(t) == longest || len(t) > 1 && t[1] != '#' && class[t[1]] != letterByte
	}
	if name := t[1:end]; strings.HasPrefix(name, "#") {
		base, digits := 10, name[1:]
		if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
			base, digits = 16, digits[1:]
		}
		if v, ok := number(digits, base); ok {
			return v, end + 1, true
		}
		return t[0], 1, true
	}
	for _, e := range entities {
		if t[1:end+1] == e.name {
			return e.c, end + 1, true
		}
	}
	return t[0], 1, true
}

// number reads all of a text as a number; 0x80 means what is beyond ASCII.
func number(digits string, base int) (byte, bool) {
	v := 0
	for i := range len(digits) {
		d := hexDigit(digits[i])
		if d < 0 || d >= base {
			return 0, false
		}
		v = min(v*base+d, 0x110000)
	}
	if v >= 0x80 {
		v = 0x80
	}
	return byte(v), digits != ""
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// hexByte reads two hex digits. Bytes beyond ASCII keep their value.
func hexByte(t string) (byte, bool) {
	if len(t) < 2 {
		return 0, false
	}
	a, b := hexDigit(t[0]), hexDigit(t[1])
	return byte(a<<4 | b), a >= 0 && b >= 0
}

func hexPrefix(t string) bool {
	for i := range min(len(t), 4) {
		if hexDigit(t[i]) < 0 {
			return false
		}
	}
	return true
}

// largeHex reports whether two hex digits have no small letter.
func largeHex(t string) bool { return t[0] < 'a' && t[1] < 'a' }
