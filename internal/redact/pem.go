package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// privateKey masks the body of a PEM private key, even if it is incomplete. end is
// the end of "-----BEGIN". In a form of the web the blanks are + or %20.
func (p *pass) privateKey(end int) int {
	s := p.s
	const mark, longest = "-----", 64
	bound := min(len(s), end+longest)
	label := strings.Index(s[end:bound], mark)
	if label < 0 {
		p.read(end, bound)
		p.undecided(end)
		return 0
	}
	p.steps += label
	if !privateLabel(s[end : end+label]) {
		return 0
	}
	body := end + label + len(mark)
	bound = min(len(s), body+valueBound)
	tail := strings.Index(s[body:bound], "-----END")
	if tail < 0 {
		p.read(body, bound)
		if p.undecided(end) {
			return len(s)
		}
		tail = bound - body
		if quote := strings.IndexAny(s[body:bound], "\"'`<"); quote > 0 {
			tail = quote // the text that holds the key ends
		}
	}
	p.steps += tail
	if tail > 0 && isQuote(s[body]) && !p.holdsKey(body, body+tail) {
		return 0 // the marks of a block in code
	}
	inner := strings.TrimLeft(s[body:body+tail], " \t\n-")
	from := body + tail - len(inner)
	if inner = strings.TrimRight(inner, " \t\n-"); inner == "" {
		return 0
	}
	p.maskAs(from, from+len(inner), hidden)
	return body + tail
}

// holdsKey reports whether a text has a line of a key.
func (p *pass) holdsKey(from, to int) bool {
	const line = 24
	piece := from
	for at := from; at < to; at++ {
		if c := p.s[at]; class[c] != letterByte && c != '+' && c != '/' {
			piece = at + 1
		}
		if at-piece >= line {
			return true
		}
	}
	return false
}

// privateLabel reports whether a label names a private key, also with the blanks of
// a form of the web.
func privateLabel(label string) bool {
	_, rest, ok := strings.Cut(label, "PRIVATE")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "%20"), " +")
	return strings.HasPrefix(rest, "KEY")
}

// encodedStems are the beginning of a PEM block in base64, at each of the three
// places that it may have among the bytes before it, and in hex.
var encodedStems = [...]struct {
	text string
	skip int // characters before the next whole group of base64
	hex  bool
}{
	{text: "LS0tLS1CRUdJTi", skip: 0},
	{text: "0tLS0tQkVHSU4g", skip: 2},
	{text: "tLS0tLUJFR0lOI", skip: 1},
	{text: "2d2d2d2d2d424547494e20", hex: true},
	{text: "2D2D2D2D2D424547494E20", hex: true},
}

// stemMemo is where each stem comes next in the run at work, plus one; 0 is unknown.
type stemMemo [len(encodedStems)]int

// encodedKey finds the next private key in base64 or hex in s[at:end], which commands
// print to move it. from is end if there is none; to may be lines after end.
func (p *pass) encodedKey(next *stemMemo, at, end int) (from, to int) {
	const shortest = 40
	if end-at < shortest {
		return end, end
	}
	for {
		first := -1
		for k, stem := range encodedStems {
			if next[k] <= at {
				p.steps += (end - at) / 8
				next[k] = end + 1
				if n := strings.Index(p.s[at:end], stem.text); n >= 0 {
					next[k] = at + n + 1
				}
			}
			if next[k] <= end && (first < 0 || next[k] < next[first]) {
				first = k
			}
		}
		if first < 0 {
			return end, end
		}
		stem := encodedStems[first]
		at = next[first] - 1
		if p.privateStem(at, stem.skip, stem.hex) {
			return at, p.encodedEnd(at)
		}
		at += len(stem.text)
	}
}

// privateStem decodes the label of the block that begins at a place.
func (p *pass) privateStem(at, skip int, inHex bool) bool {
	const label = 64 // as long as a label may be
	size := label / 3 * 4
	if inHex {
		size = 2 * label
	}
	bound := min(len(p.s), at+skip+size)
	p.read(at, bound)
	text := p.s[min(at+skip, bound):bound]
	n := 0
	for n < len(text) && class[text[n]] == letterByte {
		n++
	}
	var raw []byte
	if inHex {
		raw, _ = hex.DecodeString(text[:n&^1]) // the beginning is enough
	} else {
		raw, _ = base64.RawStdEncoding.DecodeString(text[:n&^3])
	}
	return strings.Contains(string(raw), "PRIVATE KEY")
}

// encodedEnd returns the end of the lines of base64 or hex from at on. A line that
// follows is not longer than the one before; the last one is short or has whole
// groups.
func (p *pass) encodedEnd(at int) int {
	s := p.s
	from, bound := at, min(len(s), at+2*valueBound)
	line := at
	for line > 0 && at-line < nameBound && encodedByte(s[line-1]) {
		line--
	}
	for at < bound && encodedByte(s[at]) {
		at++
	}
	const wide, longEnough = 40, 20
	for width := at - line; width >= wide && at < bound && s[at] == '\n'; {
		next := at + 1
		for next < bound && encodedByte(s[next]) {
			next++
		}
		n := next - at - 1
		p.read(at, next)
		ends := next == bound || s[next] == '\n' || isQuote(s[next])
		if n == 0 || n > width || !ends || n < longEnough && n%4 != 0 {
			break
		}
		at = next
		if n < width {
			break
		}
	}
	p.read(from, at)
	return at
}

func encodedByte(c byte) bool {
	return class[c] == letterByte || c == '+' || c == '/' || c == '=' || c == '_' || c == '-'
}

// puttyKey masks the lines of a private key of PuTTY.
func (p *pass) puttyKey(end int) int {
	s := p.s
	bound := min(len(s), end+valueBound)
	first := strings.IndexByte(s[end:min(bound, end+16)], '\n')
	tail := strings.Index(s[end:bound], "\nPrivate-MAC")
	if tail < 0 {
		p.read(end, bound)
		if p.undecided(end) {
			return len(s)
		}
		tail = bound - end
	}
	p.steps += tail
	if first < 0 || first >= tail {
		return 0
	}
	p.maskAs(end+first+1, end+tail, hidden)
	return end + tail
}
