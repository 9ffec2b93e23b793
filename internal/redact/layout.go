package redact

import "strings"

// signed masks the signature of an address that gives access.
func (p *pass) signed(pr pair, at int) int {
	const shortest = 20
	ok := p.readValue(&pr, at) && pr.end-pr.value >= shortest
	_, query := p.inForm(pr)
	if p.undecided(at) || !ok || !query {
		return 0
	}
	p.mask(pr.value, pr.end)
	return pr.end
}

// element masks the text of <password>…</password>.
func (p *pass) element(i int) int {
	pr, ok := p.named(i)
	if !ok || pr.spaced || pr.quoted != 0 || pr.from == 0 || p.s[pr.from-1] != '<' || nameKind(pr.name) < token && !p.keyBefore(pr) {
		return 0
	}
	from, bound := i+1, min(len(p.s), i+1+lineBound)
	n := strings.IndexAny(p.s[from:bound], "<\n")
	if n < 0 {
		p.read(from, bound)
		p.undecided(from)
		return 0
	}
	p.steps += n
	end := from + n
	value := p.s[from:end]
	if !p.has(end, "</") || value == "" || referring(value, true) || typeName(value) || sentence(value) {
		p.undecided(from)
		return 0
	}
	p.maskPhrase(from, end)
	return end
}

// keyBefore reports whether an element <string> comes after <key> with the name of a secret, as in a
// property list.
func (p *pass) keyBefore(pr pair) bool {
	const end, begin = "</key>", "<key>"
	if pr.name != "string" {
		return false
	}
	at, least := pr.from-1, max(0, pr.from-1-nameBound)
	for at > least && (isBlank(p.s[at-1]) || p.s[at-1] == '\n') {
		at--
	}
	before := p.s[least:at]
	p.steps += pr.from - least
	if !strings.HasSuffix(before, end) {
		return false
	}
	before = before[:len(before)-len(end)]
	from := strings.LastIndex(before, begin)
	if from < 0 {
		return false
	}
	k := nameKind(before[from+len(begin):])
	return k == token || k == phrase
}

// defaultOf masks the default of a variable that is named like a secret, as Terraform has it.
func (p *pass) defaultOf(pr pair, at int) int {
	const reach, mark = 256, "variable \""
	before := p.s[max(0, pr.from-reach):pr.from]
	p.steps += len(before)
	from := strings.LastIndex(before, mark)
	if from < 0 {
		return 0
	}
	name, rest, ok := strings.Cut(before[from+len(mark):], "\"")
	if !ok || strings.Contains(rest, "}") || nameKind(name) < token {
		return 0
	}
	ok = p.readValue(&pr, at)
	if p.undecided(pr.value) || !ok || pr.mark == 0 {
		return 0
	}
	value := p.s[pr.value:pr.end]
	if value == "" || referring(value, false) || typeName(value) || template(value) || sentence(value) {
		return 0
	}
	p.maskPhrase(pr.value, pr.end)
	return pr.end
}

// namedBesides masks the value that follows the name of a secret which is itself a
// value: name="DB_PASSWORD" value="…", - name: DB_PASSWORD and value: … below.
func (p *pass) namedBesides(pr pair, at int) int {
	switch pr.name {
	case "name", "key", "Name", "Key":
	default:
		return 0
	}
	ok := p.readValue(&pr, at)
	if ok && pr.end-pr.value <= nameBound && nameKind(p.s[pr.value:pr.end]) >= token {
		if to := p.besides(pr); to > 0 {
			return to
		}
	}
	p.undecided(pr.value)
	return 0
}

func (p *pass) besides(pr pair) int {
	s := p.s
	const bound = 64 // between the two
	at := pr.end
	for at < len(s) && at < pr.end+bound && strings.IndexByte(" \t\n\"',-", s[at]) >= 0 {
		at++
	}
	p.read(pr.end, at)
	if !p.has(at, "value") && !p.has(at, "Value") {
		return 0
	}
	second := pair{name: p.s[pr.value:pr.end], from: at, value: at}
	at += len("value")
	if at < len(s) && isQuote(s[at]) {
		second.quoted = s[at]
		at++
	}
	at = p.skipBlanks(at)
	if at == len(s) || s[at] != ':' && s[at] != '=' {
		return 0
	}
	if !p.readValue(&second, at+1) {
		return 0
	}
	value := s[second.value:second.end]
	if value == "" || referring(value, second.mark == 0) || typeName(value) || second.mark == 0 && code(value) || p.touched && !p.final {
		return 0
	}
	p.maskPhrase(second.value, second.end)
	return second.end
}

// block masks a YAML value that is written on the lines below its name. ok is false
// if the value is on the same line.
func (p *pass) block(pr pair, at int) (to int, ok bool) {
	s := p.s
	at = p.skipBlanks(at)
	if pr.sep != ':' || at == len(s) || s[at] != '|' && s[at] != '>' {
		return 0, false
	}
	from := at
	for at < len(s) && at < from+4 && strings.IndexByte("|>+-0123456789", s[at]) >= 0 {
		at++
	}
	at = p.skipBlanks(at)
	if at == len(s) || s[at] != '\n' {
		return 0, false
	}
	first := at + 1
	end := p.deeper(first, p.indent(pr.from))
	if p.undecided(first) {
		return len(s), true
	}
	text := s[first:end]
	inner := strings.TrimLeft(text, " \t\n")
	value := end - len(inner)
	inner = strings.TrimRight(inner, " \t\n")
	if inner == "" || referring(inner, true) || strings.Contains(text[:min(len(text), lineBound)], "-----BEGIN") {
		return first, true // a key or a certificate has its own rule
	}
	p.maskAs(value, value+len(inner), hidden)
	return end, true
}

// indent counts the blanks, and list marks, before the name at from.
func (p *pass) indent(from int) int {
	at := from
	for at > 0 && at > from-nameBound && (isBlank(p.s[at-1]) || p.s[at-1] == '-') {
		at--
	}
	return from - at
}

// deeper returns the end of the lines from at on that are indented by more.
func (p *pass) deeper(at, indent int) int {
	s := p.s
	from, bound := at, min(len(s), at+valueBound)
	for at < bound {
		in := at
		for in < bound && s[in] == ' ' {
			in++
		}
		if in < bound && s[in] != '\n' && in-at <= indent {
			break
		}
		line := strings.IndexByte(s[in:bound], '\n')
		if line < 0 {
			at = bound
			break
		}
		at = in + line + 1
	}
	p.read(from, at)
	return at
}

// passFile masks the password of a line of .pgpass: host:port:database:user:password.
func (p *pass) passFile(i int) int {
	s := p.s
	if s[i] != ':' || i == 0 || s[i+1] != '*' && !isDigit(s[i+1]) {
		return 0
	}
	start := i
	for start > 0 && i-start < nameBound && (class[s[start-1]] == letterByte || s[start-1] == '.' || s[start-1] == '-' || s[start-1] == '*') {
		start--
	}
	if start == i || start > 0 && s[start-1] != '\n' && !isQuote(s[start-1]) {
		return 0
	}
	at, fields := i+1, 0
	last := at
	bound := min(len(s), i+lineBound)
	for at < bound && s[at] != '\n' && !isQuote(s[at]) {
		if isBlank(s[at]) || s[at] == '/' {
			return 0
		}
		if s[at] == ':' {
			fields++
			if fields == 1 && !portOf(s[last:at]) {
				return 0
			}
			last = at + 1
		}
		at++
	}
	p.read(i, at)
	if p.undecided(i+1) || fields != 3 || at-last < 4 || strings.ContainsAny(s[last:at], ")]}") || digits(s[last:at]) || referring(s[last:at], true) {
		return 0
	}
	p.mask(last, at)
	return at
}

func portOf(text string) bool { return text == "*" || len(text) > 2 && len(text) <= 5 && digits(text) }

// chatBot masks a Telegram bot's token, whose id before the colon is public.
func (p *pass) chatBot(i int) int {
	s := p.s
	if s[i] != ':' || i == 0 || !isDigit(s[i-1]) || class[s[i+1]] == otherByte {
		return 0
	}
	const longestID, shortest, longest = 12, 30, 64
	from := i
	for from > 0 && i-from <= longestID && isDigit(s[from-1]) {
		from--
	}
	if i-from < 6 || i-from > longestID {
		return 0
	}
	end := i + 1
	for end < len(s) && end < i+longest+2 && (class[s[end]] == letterByte || s[end] == '-' || s[end] == '_') {
		end++
	}
	p.read(i, end)
	if p.undecided(i + 1) {
		return len(s)
	}
	if end-i-1 < shortest || end-i-1 > longest {
		return 0
	}
	p.maskAs(i+1, end, hidden)
	return end
}
