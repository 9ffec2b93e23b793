package redact

import "slices"

// pass is one reading of a text, left to right. A rule begins at a run of letters
// and marks, at a separator, or at the address after "://". What a rule has read it
// skips or remembers, so that no text makes the pass read a place many times.
type pass struct {
	s       string
	final   bool // no more text will come
	urls    bool
	known   *index
	spans   []span
	settled int   // what follows may change with more text
	trigger int   // where the rule at work began to read
	begun   []int // where rules began, if more text may come
	touched bool  // the rule at work has read up to the end of s
	held    bool  // a rule needs more text
	back    int   // a known value may have begun here, but is too short yet to be held
	steps   int   // bytes that rules have read, for tests

	together []span // from the first to the last of spans that are settled together

	extents [extras]extent // of the run at work
	value   valueMemo      // the last unquoted value
	address addressMemo    // the last user part
	form    formMemo       // the last part of a form or query
	command commandMemo    // the last program whose option was read
}

// Bounds of what rules read. What is longer is data, not a secret. They also bound
// what a stream holds back, and protect against texts that are made to be slow.
const (
	nameBound    = 96      // back to the name of a value
	valueBound   = 8 << 10 // a value or key
	userBound    = 1 << 10 // the user part of an address
	lineBound    = 512     // what follows a word of a command or of a .netrc
	commandBound = 1 << 10 // back to the program of an option
)

// run reads from offset from; the text before it is only context.
func (p *pass) run(from int) {
	strong := p.knownSpans(from)
	if p.known != nil {
		strong = p.alone(strong, func() { p.dumps(from) })
	}
	p.spans = nil
	p.shapes(from)
	p.spans = merge(strong, ordered(p.spans))
	for _, sp := range p.spans {
		if sp.from < p.settled && sp.to > p.settled {
			p.settled = sp.from
		}
	}
	for _, sp := range slices.Backward(p.together) {
		if sp.from < p.settled && sp.to > p.settled {
			p.settled = sp.from
		}
	}
	n := len(p.spans)
	for n > 0 && p.spans[n-1].from >= p.settled {
		n--
	}
	p.spans = p.spans[:n]
}

// knownSpans finds known values.
func (p *pass) knownSpans(from int) []span {
	if p.known != nil && len(p.s)-from >= headSize {
		p.knownValues(from)
	} else if p.known != nil && !p.final {
		p.knownTail(from)
	}
	strong := p.spans
	if p.known != nil && len(p.known.speller.sorted) > 0 {
		strong = p.alone(strong, func() {
			if escaped := p.spelled(from); escaped {
				first := p.spans
				p.spans = p.alone(first, func() { p.spelledEscaped(from) })
			}
		})
	}
	return strong
}

// alone runs a rule that finds spans of its own, and joins them with those found before.
func (p *pass) alone(before []span, rule func()) []span {
	p.spans, p.held = nil, false
	rule()
	return merge(before, p.spans)
}

// resume returns where to read again when more text has come: where the last rule
// began that may have read what is not settled.
func (p *pass) resume(from int) int {
	at := min(p.settled, p.back)
	n, _ := slices.BinarySearch(p.begun, at+1)
	if n == 0 {
		return min(from, at)
	}
	return p.begun[n-1] // not within what a rule has read
}

// shapes finds what looks like a secret. It ends where something may still become
// one: all that follows is read again when more text has come.
func (p *pass) shapes(from int) {
	s := p.s
	p.held = false
	for i := from; i < p.settled && !p.held; {
		switch class[s[i]] {
		case otherByte:
			i++
		case separatorByte:
			p.begin(i)
			i = p.separator(i)
		case letterByte:
			if end := ordinaryWord(s, i); end > 0 {
				p.begin(i)
				p.steps += end - i
				i = end + 1
				continue
			}
			fallthrough
		default:
			p.begin(i)
			i = p.word(i)
		}
	}
}

// ordinaryWord returns the end of the short word at i, if no rule begins with it: it is
// all letters and digits, and neither a name nor in quotes. Most words are such. It is
// 0 for all others.
func ordinaryWord(s string, i int) int {
	end, bound := i+1, min(len(s), i+longPiece)
	for end < bound && class[s[end]] == letterByte {
		end++
	}
	if end == bound || class[s[end]] != otherByte || begins(s, i) || isQuote(s[end]) {
		return 0
	}
	switch s[end] { // a rule may begin here, see word
	case '~', '$':
		return 0
	case '(':
		if setter(s[i:end]) {
			return 0
		}
	}
	return end
}

// begin starts a rule at a place.
func (p *pass) begin(at int) {
	p.trigger, p.touched = at, false
	if !p.final {
		p.begun = append(p.begun, at)
	}
}

// undecided holds everything from at on if the rule at work read up to the end of
// the text, so that its result may change with more text.
func (p *pass) undecided(at int) bool {
	if p.touched && !p.final {
		p.hold(at)
		return true
	}
	return false
}

// hold marks everything from at on as unsettled.
func (p *pass) hold(at int) {
	p.held = true
	p.settled = min(p.settled, at)
}

// longPiece is the shortest run of letters and digits that every key of a known
// form has.
const longPiece = 10

// word reads the run of letters, digits and joining marks that begins at i, and
// returns where to go on. A run longer than any key is read in parts.
func (p *pass) word(i int) int {
	s := p.s
	bound := min(len(s), i+valueBound)
	end, piece := i, i
	long := false
	for end < bound {
		c := class[s[end]]
		if c == letterByte {
			end++
			continue
		}
		if c != joinerByte {
			break
		}
		long = long || end-piece >= longPiece
		end++
		piece = end
	}
	p.steps += end - i
	if end == len(s) && !p.final {
		p.hold(i)
		return end
	}
	next := end
	if long || end-piece >= longPiece || s[i] == 'x' && end < len(s) && s[end] == '%' {
		next = max(next, p.tokens(i, end))
	}
	switch {
	case next > end:
	case end < len(s) && s[end] == '~' && end-i >= 5:
		next = max(next, p.tilde(i, end))
	case end < len(s) && s[end] == '$' && i > 0 && s[i-1] == '$':
		next = max(next, p.hashed(i, end))
	case end < len(s) && s[end] == '(' && setter(s[i:end]):
		next = max(next, p.given(i, end))
	case s[i] == '-':
		next = max(next, p.option(i, end))
	case begins(s, i):
		next = max(next, p.keyword(i, end))
	}
	if next == end && end < len(s) && isQuote(s[end]) && i > 0 && s[i-1] == s[end] {
		next = max(next, p.quotedName(i, end))
	}
	if next == end && piece > i && end < len(s) && isBlank(s[end]) {
		next = max(next, p.spacedName(i, end))
	}
	return next
}

// mask hides s[from:to]; a long value keeps its head and tail.
func (p *pass) mask(from, to int) { p.maskAs(from, to, Mask(p.s[from:to])) }

func (p *pass) maskAs(from, to int, mask string) {
	if from < to {
		p.spans = append(p.spans, span{from: from, to: to, mask: mask})
	}
}

// maskPhrase hides a password. One with blanks shows nothing of its words.
func (p *pass) maskPhrase(from, to int) {
	for i := from; i < to && i < from+lineBound; i++ {
		if isBlank(p.s[i]) {
			p.maskAs(from, to, hidden)
			return
		}
	}
	p.mask(from, to)
}

// ordered joins spans that overlap. Rules do not make any; a mistake in one must not
// show what another has hidden.
func ordered(list []span) []span {
	for i := 1; i < len(list); i++ {
		if list[i].from < list[i-1].to {
			slices.SortStableFunc(list, func(a, b span) int { return a.from - b.from })
			return merge(list[:1], list[1:])
		}
	}
	return list
}

// merge joins two ordered lists. Where spans overlap, the first list's wins and
// grows over the other, so that nothing hidden by either is shown.
func merge(strong, weak []span) []span {
	if len(strong) == 0 {
		return weak
	}
	if len(weak) == 0 {
		return strong
	}
	all := make([]span, 0, len(strong)+len(weak))
	for len(strong)+len(weak) > 0 {
		next := &strong
		if len(strong) == 0 || len(weak) > 0 && weak[0].from < strong[0].from {
			next = &weak
		}
		sp := (*next)[0]
		*next = (*next)[1:]
		if n := len(all); n > 0 && sp.from < all[n-1].to {
			all[n-1].to = max(all[n-1].to, sp.to)
			all[n-1].mask = hidden
			continue
		}
		all = append(all, sp)
	}
	return all
}

// The classes of bytes.
const (
	otherByte     = iota
	letterByte    // letters and digits
	joinerByte    // _ - . within names and keys
	separatorByte // : = > between a name and its value
)

var class = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case letterOrDigit(byte(c)):
			t[c] = letterByte
		case c == '_' || c == '-' || c == '.':
			t[c] = joinerByte
		case c == ':' || c == '=' || c == '>':
			t[c] = separatorByte
		}
	}
	return t
}()

func wordByte(c byte) bool { return class[c] == letterByte || c == '_' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// skipBlanks returns the place of the next byte that is not blank.
func (p *pass) skipBlanks(at int) int {
	from := at
	for at < len(p.s) && isBlank(p.s[at]) {
		at++
	}
	p.read(from, at)
	return at
}

// read records that a rule has looked at s[from:to] and the byte after it.
func (p *pass) read(from, to int) {
	p.steps += to - from + 1
	if to >= len(p.s) {
		p.touched = true
	}
}

// has reports whether s has this text at a place.
func (p *pass) has(at int, text string) bool {
	n := min(len(text), len(p.s)-at)
	if n < 0 || p.s[at:at+n] != text[:n] {
		return false
	}
	p.read(at, at+n)
	return n == len(text)
}
