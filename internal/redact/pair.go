package redact

import "strings"

// pair is a name and the value assigned to it, as the text has them.
type pair struct {
	name       string
	from       int  // where the name begins, its opening quote not counted
	quoted     byte // the quote round the name, 0 for none
	sep        byte // ':', '=', '>' (of <name>) or 0 (a blank)
	spaced     bool // blanks before the separator
	value, end int  // where the value begins and ends
	mark       byte // the quote round the value, 0 for none
	closed     bool // a quoted value had its closing quote
	standalone bool // only the end of the line or the closing quote follows
}

// separator checks the separator at i, and returns where to go on.
func (p *pass) separator(i int) int {
	s := p.s
	next := i + 1
	if next == len(s) {
		p.touched = true
		p.undecided(i)
		return next
	}
	switch {
	case s[i] == '>':
		return max(next, p.element(i))
	case s[i] == ':' && s[next] == '/':
		return max(next, p.userPart(i))
	case s[i] == '=' && s[next] == '=':
		return next + 1
	case s[i] == ':' && s[next] == '=':
		return next // Go's declaration is judged at its equals sign
	}
	if to := p.chatBot(i); to > 0 {
		return to
	}
	if to := p.passFile(i); to > 0 {
		return to
	}
	pr, ok := p.named(i)
	if !ok {
		return next
	}
	if spoken := p.inOtherWords(&pr); spoken {
		return max(next, p.assigned(phrase, pr, next))
	}
	if pr.from > 1 && s[pr.from-2:pr.from] == "**" && p.has(next, "**") { // **Password:** x
		next += len("**")
	}
	if s[i] == '=' && next < len(s) && s[next] == '>' {
		next++ // a hash of PHP or Ruby
	}
	k := nameKind(pr.name)
	switch {
	case k == plain && s[i] == '=' && pr.name == "default":
		return max(next, p.defaultOf(pr, next))
	case k == plain && s[i] == '=' && signature(pr.name):
		return max(next, p.signed(pr, next))
	case k == plain, pr.name == "key", pr.name == "Key":
		return max(next, p.namedBesides(pr, next))
	case pr.from > 1 && s[pr.from-1] == '{' && s[pr.from-2] == '$': // ${NAME:?not set}
		return next
	case pr.from > 1 && s[pr.from-1] == ':' && s[pr.from-2] == ':', k == keyLike && !shouting(pr.name) && !lastIs(pr.name, "auth") && !lastIs(pr.name, "pass"):
		return next
	case k == header:
		return max(next, p.authorization(pr))
	case k == cookie:
		return max(next, p.cookies(pr))
	}
	return max(next, p.assigned(k, pr, next))
}

// assigned masks the value of a name that announces a secret.
func (p *pass) assigned(k kind, pr pair, at int) int {
	if to, ok := p.block(pr, at); ok {
		return to
	}
	ok := p.readValue(&pr, at)
	secret := ok && p.secret(k, pr, p.s[pr.value:pr.end])
	if p.undecided(pr.value) || !secret {
		return 0
	}
	from := pr.value
	if strings.HasPrefix(p.s[from:pr.end], "base64:") {
		from += len("base64:")
	}
	p.maskPhrase(from, pr.end)
	return pr.end
}

// named finds the name before the separator at i.
func (p *pass) named(i int) (pair, bool) {
	s := p.s
	pr := pair{sep: s[i], value: i + 1}
	minimum := max(0, i-nameBound)
	at := i
	if s[i] == '=' && at > minimum && s[at-1] == ':' { // Go's declaration
		at--
	}
	for at > minimum && isBlank(s[at-1]) {
		at--
		pr.spaced = true
	}
	if at > minimum && isQuote(s[at-1]) {
		pr.quoted = s[at-1]
		at--
	}
	if at > minimum+1 && s[i] == ':' && s[at-2:at] == "**" { // **Password**: x
		at -= len("**")
	}
	end := at
	for at > minimum && (class[s[at-1]] == letterByte || class[s[at-1]] == joinerByte) {
		at--
	}
	p.steps += i - at
	pr.from = at
	pr.name = s[at:end]
	if pr.quoted != 0 && (at == 0 || s[at-1] != pr.quoted) {
		pr.quoted = 0
	}
	return pr, at < end && at > i-nameBound
}

// inOtherWords completes a name that has blanks or letters beyond ASCII: mot de passe, contraseña.
func (p *pass) inOtherWords(pr *pair) bool {
	for _, known := range [...]struct{ before, name string }{{"mot de ", "passe"}, {"contraseñ", "a"}} {
		from := pr.from - len(known.before)
		if strings.EqualFold(pr.name, known.name) && from >= 0 && strings.EqualFold(p.s[from:pr.from], known.before) {
			pr.name, pr.from, pr.spaced = "password", from, pr.spaced && pr.sep != ':'
			return true
		}
	}
	return false
}

// valueMemo is the last unquoted value. Later names within it share its end.
type valueMemo struct{ from, to int }

// readValue finds the value after the separator. It returns false if nothing follows.
func (p *pass) readValue(pr *pair, at int) bool {
	s := p.s
	at = p.skipBlanks(at)
	if at < len(s) && s[at] == '\n' && pr.quoted == '"' && pr.sep == ':' {
		if below := p.below(at); below > 0 {
			at = below
		}
	}
	pr.value = at
	if at == len(s) {
		return false
	}
	if at+1 < len(s) && (s[at] == 'r' || s[at] == 'b' || s[at] == 'f') && isQuote(s[at+1]) {
		at++ // a prefixed string literal
	}
	if isQuote(s[at]) && !p.opensBefore(pr, s[at]) {
		p.readQuoted(pr, at)
		return true
	}
	pr.value, pr.end = at, p.bareEnd(at)
	for pr.end > pr.value && strings.IndexByte(",;).", s[pr.end-1]) >= 0 && !strings.HasSuffix(s[pr.value:pr.end], "...") {
		pr.end--
	}
	after := p.skipBlanks(pr.end)
	pr.standalone = after == len(s) || s[after] == '\n' || after == pr.end && isQuote(s[after]) || s[after] == '#' && after > pr.end
	return pr.end > pr.value
}

// below returns where the text begins that JSON has in the line after its name, 0 if it is no text.
func (p *pass) below(at int) int {
	from, bound := at, min(len(p.s), at+nameBound)
	for at < bound && (isBlank(p.s[at]) || p.s[at] == '\n') {
		at++
	}
	p.read(from, at)
	if at == len(p.s) || p.s[at] != '"' {
		return 0
	}
	return at
}

// readQuoted finds the end of a quoted value, which is on one line.
func (p *pass) readQuoted(pr *pair, at int) {
	s := p.s
	pr.mark, pr.value = s[at], at+1
	bound := min(len(s), pr.value+valueBound)
	n := strings.IndexByte(s[pr.value:bound], pr.mark)
	if n < 0 {
		n = bound - pr.value
	}
	if line := strings.IndexByte(s[pr.value:pr.value+n], '\n'); line >= 0 {
		n = line
	}
	pr.end = pr.value + n
	p.steps += n / 8 // IndexByte is faster than reading
	p.read(pr.end, pr.end)
	pr.closed = pr.end < len(s) && s[pr.end] == pr.mark
}

// bareEnd returns the end of an unquoted value.
func (p *pass) bareEnd(at int) int {
	s := p.s
	from, bound := at, min(len(s), at+valueBound)
	if p.value.from <= at && at < p.value.to {
		at = min(p.value.to, bound) // the same run of bytes, from a later name
	}
	start := at
	for at < bound && !p.endsBare(at) {
		at++
	}
	p.read(start, at)
	p.value = valueMemo{from, at}
	return at
}

// opensBefore reports whether the quote at the start of a value really closes one
// that was opened before the name, as in 'x-api-key:' and in `New Password:`.
func (p *pass) opensBefore(pr *pair, quote byte) bool {
	if pr.quoted != 0 || pr.from == 0 || quote == '\'' && p.s[pr.from-1] != quote { // also an apostrophe
		return false
	}
	open := false
	at := pr.from
	for ; at > 0 && pr.from-at < nameBound && p.s[at-1] != '\n'; at-- {
		open = open != (p.s[at-1] == quote)
	}
	p.steps += pr.from - at
	return open || p.s[pr.from-1] == quote
}

// endsBare reports whether an unquoted value ends before s[at].
func (p *pass) endsBare(at int) bool {
	s := p.s
	switch s[at] {
	case ' ', '\t', '\n', '"', '\'', '`', '<', '>':
		return true
	case '&':
		p.read(at, at+1)
		return at+1 == len(s) || s[at+1] <= ' ' || s[at+1] == '&' || isQuote(s[at+1]) || p.nameFollows(at+1)
	case '|':
		p.read(at, at+1)
		return at+1 < len(s) && s[at+1] == '|'
	case ';', ',':
		p.read(at, at+1)
		return at+1 == len(s) || s[at+1] == ' ' || s[at+1] == '\n' || isQuote(s[at+1]) || p.nameFollows(at+1)
	}
	return false
}

// nameFollows reports whether "name=" follows, as in a connection string.
func (p *pass) nameFollows(at int) bool {
	const bound = 40
	from := at
	for at < len(p.s) && at < from+bound && (wordByte(p.s[at]) || p.s[at] == ' ') {
		at++
	}
	p.read(from, at)
	return at > from && at < len(p.s) && p.s[at] == '='
}
