package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/order"
)

// Limits of the spellings of a known value. A spelling is compared by its letters
// and digits only, in order, whatever is between them.
const (
	skeletonHead  = 6   // letters and digits by which the pass notices a spelling
	gapBound      = 16  // bytes between two letters
	plainShortest = 8   // letters and digits of a value that is looked for spaced and reversed
	plainAnyGap   = 16  // from here on the blanks may be anywhere, not only between all letters
	plainOneClass = 20  // so many letters and digits need not be of two kinds
	plainDistinct = 5   // different letters and digits that a spaced or reversed value has
	plainLongest  = 512 // longer values are looked for in other spellings only
	encodedLeast  = 8   // letters and digits of an encoded value
	heldAcrossGap = 4   // letters of a spaced value that a stream waits for
)

// spelling is one way in which a known value may be written.
type spelling struct {
	skeleton string // its letters and digits
	folded   string // the same in small letters
	anyCase  bool   // hex digits may be large or small
	// exact is the text from its first letter or digit to the last one, if what is
	// between them counts: of a value that is short, or of words.
	exact string
	// spaced means that anything may be between all letters, anywhere means that
	// anything may be between any.
	spaced, anywhere bool
}

// spellings is the table of the forms in which values are found beside the plain one
// (forms in known.go). Escapes (percent, JSON, C, HTML, quoted-printable) are not
// here: escape.go decodes them, in any mixture.
func spellings(v string) []spelling {
	v = strings.TrimSpace(v)
	if len(v) < shortest || len(v) > longest {
		return nil
	}
	var list spellingList
	add, encoded := list.add, list.encoded
	plain := skeletonOf(v)
	strong := distinctive(plain)
	anywhere := strong && len(plain) >= plainAnyGap
	add(spelling{exact: trimmed(v), spaced: strong, anywhere: anywhere}, skeletonHead)
	if strong {
		add(spelling{exact: trimmed(reversed(v)), spaced: true, anywhere: anywhere}, skeletonHead)
	}
	encoded(hex.EncodeToString([]byte(v)), true)
	if len(v) <= plainLongest {
		encoded(listed(v, func(b byte) string { return "0x" + hex.EncodeToString([]byte{b}) }), true)
		encoded(listed(v, func(b byte) string { return strconv.Itoa(int(b)) }), true)
	}
	// Within longer text the base64 form depends on where the value begins. The ends,
	// which mix with the neighbouring bytes, are left out. The alphabet for addresses
	// differs in marks only, which are no part of a skeleton.
	for _, text := range []string{v, reversed(v)} {
		for shift := range 3 {
			encoded(inBase64(text, shift), false)
			if text != v && !strong {
				break
			}
		}
		if !strong || len(v) > plainLongest {
			break
		}
	}
	return list
}

// rarer is the table of the forms that are looked for as far as the bounds allow after those of all values:
// base32, base64 of base64 and of hex, hex of base64, and the value with letters of one size.
func rarer(v string) []spelling {
	v = strings.TrimSpace(v)
	if len(v) < shortest || len(v) > plainLongest {
		return nil
	}
	var list spellingList
	if plain := skeletonOf(v); distinctive(plain) && (hasDigit(plain) || len(plain) >= plainAnyGap) {
		for _, text := range []string{strings.ToUpper(v), strings.ToLower(v)} {
			if text != v {
				list.add(spelling{exact: trimmed(text)}, skeletonHead)
			}
		}
	}
	for shift := range 5 {
		padded := append(make([]byte, shift), v...)
		b := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(padded)
		list.encoded(b[(shift*8+4)/5:len(padded)*8/5], true)
	}
	for shift := range 3 {
		inner := inBase64(v, shift)
		list.encoded(hex.EncodeToString([]byte(inner)), true)
		list.encoded(inBase64(hex.EncodeToString([]byte(v)), shift), false)
		for _, text := range []string{inner, strings.NewReplacer("+", "-", "/", "_").Replace(inner)} {
			for outer := range 3 {
				list.encoded(inBase64(text, outer), false)
			}
			if !strings.ContainsAny(inner, "+/") {
				break
			}
		}
	}
	return list
}

// inBase64 encodes a text that begins shift bytes into a longer one, without the ends that mix with their
// neighbours.
func inBase64(text string, shift int) string {
	padded := append(make([]byte, shift), text...)
	return base64.RawStdEncoding.EncodeToString(padded)[(shift*8+5)/6 : len(padded)*8/6]
}

type spellingList []spelling

func (l *spellingList) add(s spelling, least int) {
	if s.skeleton == "" {
		s.skeleton = skeletonOf(s.exact)
	}
	if len(s.skeleton) >= least {
		s.folded = strings.ToLower(s.skeleton)
		*l = append(*l, s)
	}
}

func (l *spellingList) encoded(text string, anyCase bool) {
	l.add(spelling{skeleton: skeletonOf(text), anyCase: anyCase, anywhere: true}, encodedLeast)
}

// distinctive reports whether a value, spaced or reversed, is nothing but that value:
// it is no word, no date and no short name.
func distinctive(skeleton string) bool {
	if len(skeleton) < plainShortest || len(skeleton) > plainLongest {
		return false
	}
	var lower, upper, digit int
	seen := map[byte]bool{}
	for i := range len(skeleton) {
		c := skeleton[i]
		seen[c] = true
		switch {
		case isDigit(c):
			digit = 1
		case c >= 'a':
			lower = 1
		default:
			upper = 1
		}
	}
	return len(seen) >= plainDistinct && (lower+upper+digit >= 2 || len(skeleton) >= plainOneClass)
}

// skeletonOf returns the letters and digits of a text.
func skeletonOf(text string) string {
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if class[text[i]] == letterByte {
			b = append(b, text[i])
		}
	}
	return string(b)
}

// trimmed removes what is before the first letter or digit and after the last one.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return r >= 0x80 || class[byte(r)] != letterByte })
}

func reversed(text string) string {
	r := []rune(text)
	slices.Reverse(r)
	return string(r)
}

func listed(text string, write func(byte) string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteString(write(text[i]))
	}
	return b.String()
}

// speller finds spellings of known values in one reading of a text.
type speller struct {
	heads  [1 << 10]uint64 // by the first letters
	sorted []spelling      // by folded
}

func newSpeller(values []string) *speller {
	x := &speller{}
	bytes := 0
	for _, table := range []func(string) []spelling{spellings, rarer} {
		for _, v := range values {
			if len(x.sorted) >= mostForms || bytes > mostBytes {
				break
			}
			for _, s := range table(v) {
				x.sorted = append(x.sorted, s)
				bytes += len(s.folded) + len(s.skeleton) + len(s.exact)
				set(&x.heads, skeletonSlot(headOf(s.folded)))
			}
		}
	}
	order.By(x.sorted, func(a, b spelling) int { return strings.Compare(a.folded, b.folded) })
	return x
}

func headOf(folded string) uint64 {
	var w uint64
	for i := range skeletonHead {
		w = w<<8 | uint64(folded[i])
	}
	return w
}

const headMask = 1<<(8*skeletonHead) - 1

func skeletonSlot(w uint64) uint32 { return slot64(w & headMask) }

// fold has the letters and digits in small letters, and 0 for all other bytes.
var fold = func() (t [256]byte) {
	for c := range 256 {
		if class[c] == letterByte {
			t[c] = byte(c)
			if c >= 'A' && c <= 'Z' {
				t[c] |= 0x20
			}
		}
	}
	return t
}()

// spelled finds spellings in the text from offset from on, as it is, and reports
// whether the text has an escape.
func (p *pass) spelled(from int) (escaped bool) {
	s, x := p.s, p.known.speller
	var w uint64
	var at [8]int // where the last letters are
	n := 0
	next := from
	begin := from
	if from > 0 && s[from-1] == '\n' { // the number of a line may follow
		begin--
	}
	for i := begin; i < len(s); i++ {
		f := fold[s[i]]
		if f == 0 {
			if s[i] == '\n' && (i+1 == len(s) || isDigit(s[i+1])) {
				size, whole := lineBreak(s, i)
				if !whole && !p.final {
					break // the digits are held as a word
				}
				i += size - 1
				continue
			}
			if !escaped && escapes[s[i]] {
				escaped = p.escapeAt(i)
			}
			continue
		}
		w = w<<8 | uint64(f)
		at[n&7] = i
		n++
		if has(&x.heads, skeletonSlot(w)) && n >= skeletonHead {
			start := at[(n-skeletonHead)&7]
			if start < next {
				continue
			}
			if to := p.spelling(start, plainText{}); p.held {
				for ; i < len(s) && !escaped; i++ {
					escaped = escapes[s[i]] && p.escapeAt(i)
				}
				return escaped
			} else if to > 0 {
				next = to
			}
		}
	}
	p.steps += len(s) - from
	p.spelledTail(at[:], n, next, plainText{})
	return escaped
}

// escapeAt reports whether there may be an escape at i.
func (p *pass) escapeAt(i int) bool {
	if c := p.s[i]; (c == '=' || c == '%') && i+1 < len(p.s) && p.s[i+1] != '\n' && hexDigit(p.s[i+1]) < 0 {
		return false // most of them
	}
	_, size, whole := decodeOne(p.s, i)
	return size > 1 || !whole && !p.final
}

// spelledEscaped does the same with escapes decoded.
func (p *pass) spelledEscaped(from int) {
	s, x := p.s, p.known.speller
	var w uint64
	var at [8]int
	n := 0
	next := from
	begin := from
	if from > 0 && s[from-1] == '\n' {
		begin--
	}
	for i := begin; i < len(s); {
		c, size := s[i], 1
		switch {
		case escapes[c]:
			var whole bool
			if c, size, whole = decodeOne(s, i); !whole && !p.final {
				p.partial(at[:], n, next, i)
				return
			}
		case c == '\n':
			var whole bool
			if size, whole = lineBreak(s, i); !whole && !p.final {
				size = len(s) - i
			}
		}
		if f := fold[c]; f != 0 {
			w = w<<8 | uint64(f)
			at[n&7] = i
			n++
			if has(&x.heads, skeletonSlot(w)) && n >= skeletonHead {
				if start := at[(n-skeletonHead)&7]; start >= next {
					if to := p.spelling(start, escapedText{}); p.held {
						return
					} else if to > 0 {
						next = to
					}
				}
			}
		}
		i += size
	}
	p.steps += len(s) - from
	p.spelledTail(at[:], n, next, escapedText{})
}

// partial holds what an escape that is cut may belong to.
func (p *pass) partial(at []int, n, next, cut int) {
	hold := cut
	for k := 1; k < skeletonHead && k <= n; k++ {
		if start := at[(n-k)&7]; start >= next && cut-start <= gapBound*skeletonHead {
			hold = start
		}
	}
	p.hold(hold)
}

// spelledTail holds the last letters if they begin a spelling.
func (p *pass) spelledTail(at []int, n, next int, r reader) {
	if p.final {
		return
	}
	for k := min(n, skeletonHead-1); k > 0; k-- {
		start := at[(n-k)&7]
		if start < next {
			continue
		}
		if p.spelling(start, r); p.held {
			return
		}
	}
}

// reader reads a text byte by byte, as it is or with escapes decoded.
type reader interface {
	// read returns the byte at i and its size in the text. whole is false if the text
	// ends within a possible escape.
	read(s string, i int) (c byte, size int, whole bool)
}

type plainText struct{}

func (plainText) read(s string, i int) (byte, int, bool) {
	if s[i] == '\n' {
		size, whole := lineBreak(s, i)
		return '\n', size, whole
	}
	return s[i], 1, true
}

type escapedText struct{}

func (escapedText) read(s string, i int) (byte, int, bool) {
	if !escapes[s[i]] {
		return plainText{}.read(s, i)
	}
	return decodeOne(s, i)
}

// lineBreak returns the size of the line break at i with the number that read_file gives the next line:
// 12|. whole is false if the text ends within what may be a number.
func lineBreak(s string, i int) (size int, whole bool) {
	const most = 9
	n := i + 1
	for n < len(s) && n <= i+most && isDigit(s[n]) {
		n++
	}
	switch {
	case n == len(s):
		return 1, false
	case n > i+1 && s[n] == '|':
		return n + 1 - i, true
	}
	return 1, true
}

// next reads on at i; more is false at the end of what is known of the text.
func (p *pass) next(r reader, i int) (c byte, size int, more bool) {
	if i >= len(p.s) {
		return 0, 0, false
	}
	c, size, whole := r.read(p.s, i)
	return c, size, whole || p.final
}

// spelling masks the longest spelling that begins with the letter at start, and
// returns its end; 0 if there is none. It narrows the sorted list letter by letter.
func (p *pass) spelling(start int, r reader) int {
	list := p.known.speller.sorted
	lo, hi := 0, len(list)
	depth, end := 0, 0
	apart := false // there was something between letters
	for i, gap := start, 0; ; {
		c, size, more := p.next(r, i)
		if !more {
			if p.final || !slices.ContainsFunc(list[lo:hi], func(x spelling) bool { return p.stillMay(x, start, r) }) {
				break
			}
			if p.back = min(p.back, start); depth >= heldAcrossGap || !apart {
				p.hold(start)
				return 0
			}
			break
		}
		f := fold[c]
		i += size
		if f == 0 {
			apart = true
			if gap++; gap > gapBound {
				break
			}
			continue
		}
		gap = 0
		lo, hi = narrow(list, lo, hi, depth, f)
		if lo == hi {
			break
		}
		depth++
		for k := lo; k < hi && len(list[k].folded) == depth; k++ {
			if to := p.agrees(list[k], start, r); to > end {
				end = to
			}
		}
	}
	p.steps += depth
	if end > 0 {
		p.maskAs(start, end, hidden)
	}
	return end
}

// narrow returns the part of list[lo:hi] that has the letter f at depth.
func narrow(list []spelling, lo, hi, depth int, f byte) (int, int) {
	at := func(i int) int {
		if len(list[i].folded) <= depth {
			return -1
		}
		return int(list[i].folded[depth])
	}
	if hi-lo == 1 {
		if at(lo) != int(f) {
			return lo, lo
		}
		return lo, hi
	}
	lower := func(lo, hi, than int) int {
		for lo < hi {
			if mid := (lo + hi) / 2; at(mid) < than {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	lo = lower(lo, hi, int(f))
	return lo, lower(lo, hi, int(f)+1)
}

// agrees reports whether the text at start, whose letters are those of x, is x, and
// returns its end.
func (p *pass) agrees(x spelling, start int, r reader) int {
	to, whole := p.compare(x, start, r)
	if !whole {
		return 0
	}
	if _, escaped := r.(escapedText); escaped && !p.decodes(start, to) {
		return 0 // found in the text as it is
	}
	return to
}

// decodes reports whether there is an escape from start to its end.
func (p *pass) decodes(start, end int) bool {
	for i := start; i < end; i++ {
		if escapes[p.s[i]] {
			if _, size, _ := decodeOne(p.s, i); size > 1 {
				return true
			}
		}
	}
	return false
}

// stillMay reports whether the text from start to its end begins x.
func (p *pass) stillMay(x spelling, start int, r reader) bool {
	to, _ := p.compare(x, start, r)
	return to == len(p.s)
}

// compare reads x from start on. whole means that the text has x, up to to. If it is
// not, but to is the end of the text, more text may complete it.
func (p *pass) compare(x spelling, start int, r reader) (to int, whole bool) {
	depth, at := 0, 0 // in the skeleton and in exact
	exact := x.exact != ""
	spaced, anywhere := x.spaced, x.anywhere
	gap := 0
	for i := start; ; {
		c, size, more := p.next(r, i)
		if !more {
			return len(p.s), false
		}
		i += size
		p.steps++
		if c == '\n' && size == 2 { // a soft line break is nothing
			continue
		}
		if exact {
			exact = sameByte(x.exact[at], c)
			at++
		}
		if fold[c] == 0 {
			gap++
			if !exact && !spaced && !anywhere {
				return 0, false
			}
			continue
		}
		want := x.skeleton[depth]
		if c != want && !(x.anyCase && fold[c] == fold[want]) {
			return 0, false
		}
		spaced = spaced && (depth == 0 || gap > 0)
		gap = 0
		if depth++; !exact && !spaced && !anywhere {
			return 0, false
		}
		if depth == len(x.skeleton) {
			return i, true
		}
	}
}

// sameByte compares bytes between letters: a plus is a blank in forms, and bytes
// beyond ASCII may be written in several ways.
func sameByte(want, got byte) bool {
	return want == got || want == ' ' && got == '+' || want >= 0x80 && got >= 0x80
}
