package redact

import (
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"hermes/internal/order"
)

const (
	shortest  = 6        // shorter secrets, in bytes, are ignored
	longest   = 8 << 10  // so are longer ones, which are data
	keyLine   = 24       // the shortest line of a key's file that is looked for alone
	mostForms = 8 << 10  // the maximum number of strings to look for
	mostBytes = 16 << 20 // and of their bytes
)

// index finds any of many fixed strings in one pass. A bit set over hashes of four
// bytes says where to look closer, and one over the eight bytes after them where to
// compare, so that keys with the same beginning do not slow the pass down.
type index struct {
	grams [1 << 10]uint64 // four bytes from the first places of the forms
	heads [1 << 10]uint64
	rests [1 << 10]uint64
	long  map[uint64][]string // by the bytes 4 to 12, longest first
	short map[uint32][]string // by the first four bytes: forms under 12 bytes
	// stride is how many places at a time are skipped: each form has its bytes in
	// grams at as many places.
	stride  int
	speller *speller // finds other spellings
}

const (
	headSize = 4
	restSize = 8
	widest   = 4 // the stride, if no form is very short
)

func newIndex(values []string) *index {
	x := &index{long: map[uint64][]string{}, short: map[uint32][]string{}, stride: widest, speller: newSpeller(values)}
	seen := map[string]bool{}
	bytes := 0
	for _, v := range values {
		for _, f := range forms(v) {
			if seen[f] || len(seen) == mostForms || bytes > mostBytes {
				continue
			}
			seen[f] = true
			x.stride = min(x.stride, len(f)-headSize+1)
			bytes += len(f)
			x.add(f)
		}
	}
	longestFirst := func(a, b string) int { return len(b) - len(a) }
	for _, list := range x.long {
		order.By(list, longestFirst)
	}
	for _, list := range x.short {
		order.By(list, longestFirst)
	}
	return x
}

func (x *index) add(f string) {
	h := head(f)
	set(&x.heads, slot(h))
	for at := 0; at < widest && at+headSize <= len(f); at++ {
		set(&x.grams, slot(head(f[at:])))
	}
	if len(f) < headSize+restSize {
		x.short[h] = append(x.short[h], f)
		return
	}
	r := rest(f)
	set(&x.rests, slot64(r))
	x.long[r] = append(x.long[r], f)
}

// forms returns the strings that are looked for byte by byte: the secret itself, the
// lines of a key's file, and, for a secret with hardly any letters, what escapes make
// of it. The other spellings are in spelling.go.
func forms(v string) []string {
	v = strings.TrimSpace(v)
	if len(v) < shortest || len(v) > longest {
		return nil
	}
	list := []string{v}
	if strings.Contains(v, "\n") { // the file of a key: commands print single lines
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= keyLine && !strings.HasPrefix(line, "-----") {
				list = append(list, line)
			}
		}
	}
	if len(skeletonOf(v)) >= skeletonHead {
		return list
	}
	for _, text := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		list = append(list, text, lowerEscapes(text))
	}
	for _, escape := range []func(string) (string, bool){quotedJSON, allEscaped} {
		if text, ok := escape(v); ok {
			list = append(list, text)
		}
	}
	return list
}

// lowerEscapes writes the digits of percent escapes in small letters.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = b[i+1]|0x20, b[i+2]|0x20
		}
	}
	return string(b)
}

func quotedJSON(v string) (string, bool) {
	quoted, err := json.Marshal(v)
	if err != nil {
		return "", false
	}
	return string(quoted[1 : len(quoted)-1]), true
}

// allEscaped escapes every byte, as some programs do with passwords.
func allEscaped(v string) (string, bool) {
	var b strings.Builder
	for i := range len(v) {
		b.WriteByte('%')
		b.WriteString(strings.ToUpper(hex.EncodeToString([]byte{v[i]})))
	}
	return b.String(), true
}

func head(s string) uint32 {
	_ = s[headSize-1] // one bounds check for the four
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func rest(s string) uint64 {
	return uint64(head(s[headSize:])) | uint64(head(s[2*headSize:]))<<32
}

func slot(h uint32) uint32   { return (h * 2654435761) >> 16 }
func slot64(h uint64) uint32 { return uint32((h * 0x9E3779B97F4A7C15) >> 48) }

func set(bits *[1 << 10]uint64, n uint32)      { bits[n>>6] |= 1 << (n & 63) }
func has(bits *[1 << 10]uint64, n uint32) bool { return bits[n>>6]&(1<<(n&63)) != 0 }

// knownValues finds live secrets, anywhere in a word. It looks at one place of a
// stride only; where that may belong to a form, it looks at the places before it.
func (p *pass) knownValues(from int) {
	s, x := p.s, p.known
	next := from // the first place where a form may begin
	for i := from + x.stride - 1; i+headSize <= len(s); i += x.stride {
		if !has(&x.grams, slot(head(s[i:]))) {
			continue
		}
		next = p.knownFrom(max(next, i-x.stride+1), i)
		if p.held {
			return
		}
		if next > i+1 {
			i = next - 1
		}
	}
	p.steps += len(s) - from
	last := len(s) - headSize
	next = p.knownFrom(max(next, last-x.stride), last)
	if !p.final && !p.held {
		p.knownTail(max(next, last+1))
	}
}

// knownTail holds the last bytes of the text if they begin a form.
func (p *pass) knownTail(from int) {
	for i := from; i < len(p.s) && !p.held; i++ {
		if p.known.mayBegin(p.s[i:]) {
			p.hold(i)
		}
	}
}

// knownFrom masks the forms that begin at a place from i to last, and returns where
// to go on.
func (p *pass) knownFrom(i, last int) int {
	for i = max(i, 0); i <= last; {
		h := head(p.s[i:])
		if !has(&p.known.heads, slot(h)) {
			i++
			continue
		}
		p.trigger, p.touched = i, false
		to := p.knownAt(h, i)
		if p.undecided(i) {
			return i
		}
		i = max(i+1, to)
	}
	return i
}

// knownAt masks the known string that begins at i and returns its end, 0 if there
// is none.
func (p *pass) knownAt(h uint32, i int) int {
	s, x := p.s, p.known
	most := 0
	try := func(list []string) {
		for _, f := range list {
			if most == 0 {
				most = p.matches(f, i)
			}
		}
	}
	switch {
	case len(s)-i < headSize+restSize: // too short to know which
		if !p.final && x.mayBegin(s[i:]) {
			p.touched = true
		}
	default:
		if r := rest(s[i:]); has(&x.rests, slot64(r)) {
			try(x.long[r])
		}
	}
	try(x.short[h])
	if most > 0 {
		p.maskAs(i, most, hidden)
	}
	return most
}

// matches returns the end of a form that begins at i, 0 if it does not.
func (p *pass) matches(f string, i int) int {
	s := p.s
	n := 0
	for n < len(f) && i+n < len(s) && s[i+n] == f[n] {
		n++
	}
	p.steps += n
	switch {
	case n == len(f):
		return i + n
	case i+n == len(s):
		p.touched = true
	}
	return 0
}

// mayBegin reports whether a short rest of the text begins a known string.
func (x *index) mayBegin(rest string) bool {
	for _, list := range x.long {
		for _, f := range list {
			if strings.HasPrefix(f, rest) {
				return true
			}
		}
	}
	for _, list := range x.short {
		for _, f := range list {
			if strings.HasPrefix(f, rest) {
				return true
			}
		}
	}
	return false
}
