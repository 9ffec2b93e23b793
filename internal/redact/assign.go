package redact

import "strings"

// pair is a name and the value assigned to it, as the text has them.
type pair struct {
	name   string
	from   int  // where the name begins, its opening quote not counted
	quoted byte // the quote round the name, 0 for none
	sep    byte // ':' or '='
	spaced bool // blanks before the separator

	value, end int  // where the value begins and ends
	mark       byte // the quote round the value, 0 for none
	closed     bool // a quoted value had its closing quote
	standalone bool // only the end of the line or the closing quote follows
}

// assign checks the separator at i, and returns where to go on.
func (p *pass) assign(i int) int {
	s := p.s
	next := i + 1
	if next == len(s) {
		if !p.final {
			p.hold(i)
		}
		return next
	}
	if s[i] == ':' && s[next] == '/' {
		return max(next, p.userPart(i))
	}
	if s[i] == '=' && (s[next] == '=' || s[next] == '>') {
		return next + 1
	}
	if s[i] == ':' && s[next] == '=' {
		next++ // Go's declaration is judged at its equals sign
		return next
	}
	if to := p.chatBot(i); to > 0 {
		return to
	}
	pr, ok := p.named(i)
	if !ok {
		return next
	}
	k := nameKind(pr.name)
	if k == plain || k == keyLike && !shouting(pr.name) || pr.name == "PWD" {
		return next
	}
	if k == header {
		return max(next, p.authorization(pr))
	}
	if !p.readValue(&pr, next) {
		return next
	}
	value := s[pr.value:pr.end]
	if !p.secret(k, pr, value) {
		return next
	}
	p.mask(pr.value, pr.end)
	return pr.end
}

// named finds the name before the separator at i.
func (p *pass) named(i int) (pair, bool) {
	s := p.s
	pr := pair{sep: s[i]}
	minimum := max(0, i-nameBound)
	at := i
	for at > minimum && (s[at-1] == ' ' || s[at-1] == '\t') {
		at--
		pr.spaced = true
	}
	if at > minimum && isQuote(s[at-1]) {
		pr.quoted = s[at-1]
		at--
	}
	end := at
	for at > minimum && (class[s[at-1]] == wordByte || s[at-1] == '-' || s[at-1] == '.') {
		at--
	}
	pr.from = at
	pr.name = s[at:end]
	if pr.quoted != 0 && (at == 0 || s[at-1] != pr.quoted) {
		pr.quoted = 0
	}
	return pr, at < end && at > i-nameBound
}

// readValue finds the value after the separator. False means that there is
// none, or that it is not complete yet.
func (p *pass) readValue(pr *pair, at int) bool {
	s := p.s
	at = skipBlanks(s, at)
	if at == len(s) {
		p.undecided(at)
		return false
	}
	if at+1 < len(s) && (s[at] == 'r' || s[at] == 'b' || s[at] == 'f') && isQuote(s[at+1]) {
		at++ // a prefixed string literal
	}
	bound := min(len(s), at+valueBound)
	if isQuote(s[at]) && !p.opensBefore(pr, s[at]) {
		pr.mark = s[at]
		pr.value = at + 1
		n := strings.IndexAny(s[pr.value:bound], string([]byte{pr.mark, '\n'}))
		if n < 0 {
			if bound == len(s) && !p.final {
				p.hold(pr.value)
				return false
			}
			n = bound - pr.value
		}
		pr.end = pr.value + n
		pr.closed = pr.end < len(s) && s[pr.end] == pr.mark
		return true
	}
	pr.value = at
	if p.bare.from <= at && at < p.bare.to {
		at = min(p.bare.to, bound) // the same run of bytes, from a later name
	}
	for at < bound && !endsBare(s, at) {
		at++
	}
	p.bare.from, p.bare.to = pr.value, at
	if at >= len(s)-2 && !p.final { // the rules look at two bytes more
		p.hold(pr.value)
		return false
	}
	for at > pr.value && strings.IndexByte(",;).", s[at-1]) >= 0 {
		at--
	}
	pr.end = at
	after := skipBlanks(s, at)
	if after == len(s) {
		p.undecided(pr.value)
	}
	pr.standalone = after == len(s) || s[after] == '\n' || after == at && isQuote(s[after]) || s[after] == '#' && after > at
	return pr.end > pr.value
}

// opensBefore reports whether the quote at the start of a value really closes one
// that was opened before the name, as in 'x-api-key:'.
func (p *pass) opensBefore(pr *pair, quote byte) bool {
	return pr.quoted == 0 && pr.from > 0 && p.s[pr.from-1] == quote
}

func (p *pass) undecided(at int) {
	if !p.final {
		p.hold(at)
	}
}

// endsBare reports whether an unquoted value ends before s[at].
func endsBare(s string, at int) bool {
	switch s[at] {
	case ' ', '\t', '\n', '"', '\'', '`', '<', '>':
		return true
	case '&', '|':
		return s[at] == '&' || at+1 < len(s) && s[at+1] == s[at]
	case ';', ',':
		return at+1 == len(s) || s[at+1] == ' ' || s[at+1] == '\n'
	}
	return false
}

// authorization masks the credential of an Authorization header and keeps the
// scheme, whatever it is called.
func (p *pass) authorization(pr pair) int {
	s := p.s
	at := pr.from + len(pr.name)
	for at < len(s) && s[at] != pr.sep {
		at++
	}
	at = skipBlanks(s, at+1)
	var mark byte
	if at < len(s) && isQuote(s[at]) && !p.opensBefore(&pr, s[at]) {
		mark = s[at]
		at++
	}
	bound := min(len(s), at+valueBound)
	n := headerEnd(s[at:bound], mark)
	if n < 0 && bound == len(s) && !p.final {
		p.hold(at)
		return len(s)
	}
	if n < 0 {
		n = bound - at
	}
	value := strings.TrimRight(s[at:at+n], " \t")
	if value == "" {
		return at
	}
	scheme, rest, spoken := strings.Cut(value, " ")
	if !spoken {
		word := strings.TrimRight(value, ",;")
		bareInCode := pr.quoted != 0 && mark == 0
		if len(word) >= 4 && !referring(word, true) && !code(word) && !bareInCode {
			p.mask(at, at+len(value))
		}
		return at + len(value)
	}
	credential := strings.TrimLeft(rest, " ")
	from := at + len(value) - len(credential)
	if referring(credential, true) || !strings.Contains("=,", string(credential[len(credential)-1])) && prose(scheme, credential) {
		return at
	}
	mask := Mask(credential)
	if strings.EqualFold(scheme, "basic") || strings.Contains(credential, " ") {
		mask = hidden
	}
	p.maskAs(from, from+len(credential), mask)
	return from + len(credential)
}

// headerEnd finds the end of a header's value: the end of the line, the closing
// mark, or any quote except those around the values of a Digest. It is -1 if the
// text ends first.
func headerEnd(s string, mark byte) int {
	inner := byte(0)
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '\n':
			return i
		case inner != 0:
			if c == inner {
				inner = 0
			}
		case mark != 0:
			if c == mark {
				return i
			}
		case isQuote(c) && i > 0 && s[i-1] == '=':
			inner = c
		case isQuote(c):
			return i
		}
	}
	return -1
}

// prose reports whether the text after "Authorization:" is a sentence.
func prose(scheme, credential string) bool {
	if !strings.Contains(credential, " ") {
		return false
	}
	switch strings.ToLower(scheme) {
	case "bearer", "basic", "token", "apikey", "oauth", "digest", "hawk", "negotiate", "ntlm", "aws4-hmac-sha256", "signature", "sharedkey":
		return !strings.Contains(credential, "=")
	}
	return !strings.Contains(credential, "=\"")
}

// chatBot masks a Telegram bot's token, whose id before the colon is public.
func (p *pass) chatBot(i int) int {
	s := p.s
	if s[i] != ':' || i == 0 || s[i-1] < '0' || s[i-1] > '9' {
		return 0
	}
	from := i
	for from > 0 && s[from-1] >= '0' && s[from-1] <= '9' {
		from--
	}
	if i-from < 6 || i-from > 12 {
		return 0
	}
	end := run(s, i+1, "-_")
	if end == len(s) && end-i-1 <= 64 && !p.final {
		p.hold(i + 1)
	}
	if end-i-1 < 30 || end-i-1 > 64 {
		return 0
	}
	p.maskAs(i+1, end, hidden)
	return end
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
