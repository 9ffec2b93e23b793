package redact

import "strings"

// pass is one reading of a text, left to right.
type pass struct {
	s       string
	final   bool // no more text will come
	urls    bool
	known   *index
	spans   []span
	settled int                    // what follows may change with more text
	resume  int                    // where to read again when more has come
	trigger int                    // where the rule at work began to read
	bare    struct{ from, to int } // the last unquoted value that was measured
}

const (
	// nameBound is how far back to look for the name of a value.
	nameBound = 96
	// valueBound is the maximum length of a value. Anything longer is data, not a
	// secret. It also bounds what a stream holds back.
	valueBound = 8 << 10
	// tokenBound is the same for keys and user parts, which are shorter. The
	// bounds also protect against texts that are made to be slow.
	tokenBound = 1 << 10
)

// run reads from offset from; the text before it is only context.
func (p *pass) run(from int) {
	if p.known != nil {
		p.knownValues(from)
	}
	shapes := p.spans
	p.spans = nil
	p.shapes(from)
	p.spans = merge(shapes, p.spans)
	for _, sp := range p.spans {
		if sp.from < p.settled && sp.to > p.settled {
			p.settled = sp.from
			p.resume = min(p.resume, sp.from)
		}
	}
	n := len(p.spans)
	for n > 0 && p.spans[n-1].from >= p.settled {
		n--
	}
	p.spans = p.spans[:n]
}

// shapes finds what looks like a secret.
func (p *pass) shapes(from int) {
	s := p.s
	for i := from; i < len(s); {
		p.trigger = i
		switch class[s[i]] {
		case wordByte:
			i = p.word(i)
		case assignByte:
			i = p.assign(i)
		default:
			i++
		}
	}
}

// word checks the word that begins at i, and returns where to go on.
func (p *pass) word(i int) int {
	s := p.s
	end := i + 1
	for end < len(s) && class[s[end]] == wordByte {
		end++
	}
	if i > 0 && class[s[i-1]] == wordByte {
		return end
	}
	to, open := tokenAt(s, i)
	if open && !p.final {
		p.hold(i)
	}
	if to > 0 {
		p.mask(i, to)
		return to
	}
	if end == len(s) && end-i < nameBound && !p.final {
		p.hold(i)
	}
	if s[i] == 'B' || s[i] == 'b' {
		return max(end, p.bearer(i, end), p.privateKey(i, end))
	}
	if i > 1 && s[i-1] == '-' && s[i-2] == '-' {
		return max(end, p.option(i))
	}
	return end
}

// option masks the value of a command's option, as in --password hunter2.
func (p *pass) option(i int) int {
	s := p.s
	end := run(s, i, "-_")
	if end-i > nameBound || nameKind(s[i:end]) < token {
		return 0
	}
	at := skipBlanks(s, end)
	to := at
	for to < len(s) && to-at < tokenBound && !endsBare(s, to) {
		to++
	}
	if to >= len(s)-2 && !p.final {
		p.hold(i)
		return 0
	}
	value := s[at:to]
	if at == end || value == "" || value[0] == '-' || referring(value, true) || code(value) || !looksSecret(nameKind(s[i:end]), value) {
		return 0
	}
	p.mask(at, to)
	return to
}

// bearer masks the credential of "Bearer xyz" anywhere in a text.
func (p *pass) bearer(i, end int) int {
	s := p.s
	if end-i != len("bearer") || !strings.EqualFold(s[i:end], "bearer") {
		return 0
	}
	at := skipBlanks(s, end)
	if at == end && at < len(s) {
		return 0
	}
	to := at
	for to < len(s) && to-at < tokenBound && (class[s[to]] == wordByte || strings.IndexByte("-._~+/=", s[to]) >= 0) {
		to++
	}
	if to == len(s) && !p.final {
		p.hold(i)
	}
	if to-at < 16 || !hasDigit(s[at:to]) {
		return 0
	}
	p.mask(at, to)
	return to
}

// privateKey masks the body of a PEM private key, even if it is incomplete.
func (p *pass) privateKey(i, end int) int {
	s := p.s
	const open = "-----"
	if s[i:end] != "BEGIN" || i < len(open) || s[i-len(open):i] != open {
		return 0
	}
	head := min(len(s), end+64)
	label := strings.Index(s[end:head], open)
	if label < 0 {
		if head == len(s) && !p.final {
			p.hold(i)
		}
		return 0
	}
	if !strings.Contains(s[end:end+label], "PRIVATE KEY") {
		return 0
	}
	body := end + label + len(open)
	bound := min(len(s), body+valueBound)
	tail := strings.Index(s[body:bound], "-----END")
	if tail < 0 {
		if bound == len(s) && !p.final {
			p.hold(body)
			return len(s)
		}
		tail = bound - body
	}
	if strings.TrimSpace(s[body:body+tail]) == "" {
		return 0
	}
	p.spans = append(p.spans, span{from: body, to: body + tail, mask: "\n" + hidden + "\n"})
	return body + tail
}

// mask hides s[from:to]; a long value keeps its head and tail.
func (p *pass) mask(from, to int) { p.maskAs(from, to, Mask(p.s[from:to])) }

func (p *pass) maskAs(from, to int, mask string) {
	if from < to {
		p.spans = append(p.spans, span{from: from, to: to, mask: mask})
	}
}

// hold marks everything from at on as unsettled.
func (p *pass) hold(at int) {
	p.settled = min(p.settled, at)
	p.resume = min(p.resume, p.trigger, at)
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

const (
	otherByte = iota
	wordByte
	assignByte
)

var class = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			t[c] = wordByte
		case c == ':', c == '=':
			t[c] = assignByte
		}
	}
	return t
}()

func skipBlanks(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	return at
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
