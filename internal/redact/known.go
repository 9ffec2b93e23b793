package redact

import (
	"encoding/base64"
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
	mostForms = 8 << 10  // the maximum number of forms to look for
	mostBytes = 16 << 20 // and of their bytes
)

// form is one spelling of a secret.
type form struct {
	text string
	// wraps means that programs break the spelling into lines.
	wraps bool
}

// index finds any of many fixed strings in one pass. A bit set over hashes of four
// bytes says where to look closer, and one over the eight bytes after them where to
// compare, so that keys with the same beginning do not slow the pass down.
type index struct {
	grams [1 << 10]uint64 // four bytes from the first places of the forms
	heads [1 << 10]uint64
	rests [1 << 10]uint64
	long  map[uint64][]form // by the bytes 4 to 12, longest first
	short map[uint32][]form // by the first four bytes: forms under 12 bytes
	// stride is how many places at a time are skipped: each form has its bytes in
	// grams at as many places.
	stride int
}

const (
	headSize = 4
	restSize = 8
	widest   = 4 // the stride, if no form is very short
)

func newIndex(values []string) *index {
	x := &index{long: map[uint64][]form{}, short: map[uint32][]form{}, stride: widest}
	seen := map[string]bool{}
	bytes := 0
	for _, v := range values {
		for _, f := range forms(v) {
			if seen[f.text] || len(seen) == mostForms || bytes > mostBytes {
				continue
			}
			seen[f.text] = true
			x.stride = min(x.stride, len(f.text)-headSize+1)
			bytes += len(f.text)
			x.add(f)
		}
	}
	longestFirst := func(a, b form) int { return len(b.text) - len(a.text) }
	for _, list := range x.long {
		order.By(list, longestFirst)
	}
	for _, list := range x.short {
		order.By(list, longestFirst)
	}
	return x
}

func (x *index) add(f form) {
	h := head(f.text)
	set(&x.heads, slot(h))
	for at := 0; at < widest && at+headSize <= len(f.text); at++ {
		set(&x.grams, slot(head(f.text[at:])))
	}
	if len(f.text) < headSize+restSize {
		x.short[h] = append(x.short[h], f)
		return
	}
	r := rest(f.text)
	set(&x.rests, slot64(r))
	x.long[r] = append(x.long[r], f)
}

// forms returns the spellings in which a secret may appear.
func forms(v string) []form {
	v = strings.TrimSpace(v)
	if len(v) < shortest || len(v) > longest {
		return nil
	}
	list := []form{{text: v}}
	if strings.Contains(v, "\n") { // the file of a key: commands print single lines
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= keyLine && !strings.HasPrefix(line, "-----") {
				list = append(list, form{text: line})
			}
		}
	}
	for _, text := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		list = append(list, form{text: text}, form{text: lowerEscapes(text)})
	}
	for _, escape := range []func(string) (string, bool){quotedJSON, allEscaped} {
		if text, ok := escape(v); ok {
			list = append(list, form{text: text})
		}
	}
	h := hex.EncodeToString([]byte(v))
	list = append(list, wrapped(h)...)
	list = append(list, wrapped(strings.ToUpper(h))...)
	// Within longer text the base64 form depends on where the secret begins. The
	// ends, which mix with the neighbouring bytes, are left out.
	for shift := range 3 {
		padded := append(make([]byte, shift), v...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(padded)
			text = text[(shift*8+5)/6 : len(padded)*8/6]
			if len(text) >= 8 {
				list = append(list, wrapped(text)...)
			}
		}
	}
	return list
}

// wrapped returns an encoding that may be broken into lines. Where a line breaks
// within the beginning, what follows it is found.
func wrapped(text string) []form {
	list := []form{{text, true}}
	const beginning = headSize + restSize
	if len(text) >= 3*beginning {
		list = append(list, form{text[beginning:], true})
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
	try := func(list []form) {
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
func (p *pass) matches(f form, i int) int {
	s := p.s
	if strings.HasPrefix(s[i:], f.text) {
		p.steps += len(f.text)
		return i + len(f.text)
	}
	at, n := i, 0
	for n < len(f.text) {
		if at == len(s) {
			p.touched = true
			return 0
		}
		if s[at] != f.text[n] {
			if !f.wraps || n < headSize+restSize || s[at] != '\n' {
				p.steps += n
				return 0
			}
			at++
			continue
		}
		at++
		n++
	}
	p.steps += n
	return at
}

// mayBegin reports whether a short rest of the text begins a known string.
func (x *index) mayBegin(rest string) bool {
	for _, list := range x.long {
		for _, f := range list {
			if strings.HasPrefix(f.text, rest) {
				return true
			}
		}
	}
	for _, list := range x.short {
		for _, f := range list {
			if strings.HasPrefix(f.text, rest) {
				return true
			}
		}
	}
	return false
}
