package redact

import "strings"

// stems has a bit for each pair of letters that a word of keyword begins with. A letter
// counts by its lowest five bits, so large and small ones are the same.
var stems = func() (t [32]uint32) {
	for _, pair := range []string{"be", "ma", "de", "ec", "pr", "pa", "id", "ht"} {
		t[pair[0]&31] |= 1 << (pair[1] & 31)
	}
	return t
}()

// begins reports whether one of the words that keyword knows may begin at i.
func begins(s string, i int) bool {
	return i+3 < len(s) && stems[s[i]&31]&(1<<(s[i+1]&31)) != 0
}

// keyword checks the words that announce a secret without a separator. s[i:end] is
// the word.
func (p *pass) keyword(i, end int) int {
	if end-i > len("Private-Lines") || i > 0 && wordByte(p.s[i-1]) {
		return 0
	}
	var buf [longestWord]byte
	switch lower(&buf, p.s[i:end]) {
	case "bearer":
		return p.bearer(end)
	case "machine", "default":
		return p.machine(i, end)
	case "echo", "printf":
		return p.piped(end)
	case "htpasswd":
		return p.htpasswd(end)
	case "password", "passphrase", "passwd", "passcode":
		return p.spoken(end, shouting(p.s[i:end]))
	case "identified":
		if p.has(end, " BY '") || p.has(end, " by '") {
			return p.literalAfter(end + len(" BY "))
		}
		p.undecided(i)
	case "private-lines":
		return p.puttyKey(end)
	}
	return 0
}

// bearer masks the credential of "Bearer xyz" anywhere in a text.
func (p *pass) bearer(end int) int {
	s := p.s
	at := p.skipBlanks(end)
	to := at
	for to < len(s) && to < at+valueBound && (wordByte(s[to]) || strings.IndexByte("-.~+/=", s[to]) >= 0) {
		to++
	}
	p.read(at, to)
	if p.undecided(end) || at == end || to-at < 16 || !hasDigit(s[at:to]) {
		return 0
	}
	p.mask(at, to)
	return to
}

// machine masks the passwords of a .netrc: machine HOST login USER password SECRET.
func (p *pass) machine(i, end int) int {
	s := p.s
	bound := min(len(s), end+lineBound)
	field := func(at int) (from, to int) {
		defer func() { p.read(from, to) }()
		for at < bound && (isBlank(s[at]) || s[at] == '\n') {
			at++
		}
		from = at
		if at < bound && s[at] == '"' {
			for at++; at < bound && s[at] != '"' && s[at] != '\n'; at++ {
			}
			return from, min(bound, at+1)
		}
		for at < bound && !isBlank(s[at]) && s[at] != '\n' && !isQuote(s[at]) {
			at++
		}
		return from, at
	}
	at, spans, user := end, len(p.spans), false
	if strings.EqualFold(s[i:end], "machine") {
		_, at = field(at)
	}
	for at < bound {
		from, to := field(at)
		if from == to {
			break
		}
		switch s[from:to] {
		case "login", "account", "password":
		default:
			bound = at // another text follows
			continue
		}
		secret := s[from:to] == "password"
		user = user || !secret
		from, at = field(to)
		if value := strings.Trim(s[from:at], `"`); secret && value != "" && !referring(value, true) && (user || looksSecret(phrase, value)) {
			if s[from] == '"' {
				from++
			}
			p.maskPhrase(from, from+len(value))
		}
	}
	if p.undecided(end) || len(p.spans) == spans {
		return 0
	}
	return at
}

// piped masks what is echoed into a program that reads a password from its input.
func (p *pass) piped(end int) int {
	s := p.s
	line := s[end:min(len(s), end+lineBound)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	p.steps += len(line) / 8
	p.read(end+len(line), end+len(line))
	if p.undecided(end) {
		return 0
	}
	said, reader, ok := strings.Cut(line, "|")
	if !ok {
		return 0
	}
	reader, _, _ = strings.Cut(reader, "|")
	p.steps += len(said) + len(reader)
	pairs := strings.Contains(reader, "chpasswd")
	if !pairs && !strings.Contains(reader, "sudo -S") && !strings.Contains(reader, "-stdin") && !strings.Contains(reader, "--with-token") {
		return 0
	}
	said = strings.TrimRight(said, " \t")
	if said != "" && isQuote(said[len(said)-1]) {
		mark := said[len(said)-1]
		said = said[:len(said)-1]
		at := strings.LastIndexByte(said, mark)
		if at < 0 {
			return 0
		}
		return p.echoed(end+at+1, end+len(said), pairs)
	}
	return p.echoed(end+strings.LastIndexAny(said, " \t")+1, end+len(said), pairs)
}

func (p *pass) echoed(from, to int, pairs bool) int {
	value := p.s[from:to]
	if at := strings.IndexByte(value, ':'); pairs && at >= 0 {
		from, value = from+at+1, value[at+1:]
	}
	if value == "" || value[0] == '-' || referring(value, true) {
		return 0
	}
	p.maskPhrase(from, to)
	return to
}

// htpasswd masks the password of: htpasswd -b FILE USER PASSWORD.
func (p *pass) htpasswd(end int) int {
	at, from, to, rest := end, end, end, 3
	batch := false
	for rest > 0 {
		next := p.skipBlanks(at)
		if next == at || next == len(p.s) {
			break
		}
		from, to, _ = p.argument(at)
		at = to
		switch arg := p.s[from:to]; {
		case arg == "":
			rest = -1
		case arg[0] == '-':
			batch = batch || strings.Contains(arg, "b")
			if strings.Contains(arg, "n") {
				rest--
			}
		default:
			rest--
		}
		if at < len(p.s) && isQuote(p.s[at]) {
			at++
		}
	}
	if p.undecided(end) || rest != 0 || !batch || referring(p.s[from:to], true) {
		return 0
	}
	p.mask(from, to)
	return to
}

// spoken masks the password of "my password is hunter2", of PASSWORD 'hunter2' and of
// PASSWORD hunter2.
func (p *pass) spoken(end int, loud bool) int {
	s := p.s
	at := p.skipBlanks(end)
	if at == end || at == len(s) {
		p.undecided(end)
		return 0
	}
	if s[at] == '\'' {
		return p.literalAfter(at)
	}
	switch {
	case p.has(at, "is"):
		at += len("is")
	case p.has(at, "was"):
		at += len("was")
	case !loud:
		p.undecided(end)
		return 0
	default:
		at = end
	}
	if at < len(s) && s[at] == ':' {
		at++
	}
	next := p.skipBlanks(at)
	if next < len(s) && isQuote(s[next]) {
		next++
	}
	to := p.bareArgument(next)
	if p.undecided(end) || next == at {
		return 0
	}
	for to > next && strings.IndexByte(".,;:!?", s[to-1]) >= 0 {
		to--
	}
	value := s[next:to]
	if at := strings.Index(value, "&quot"); at >= 0 {
		to = next + at
		value = strings.TrimRight(s[next:to], ".,;:!?")
	}
	if !looksSecret(phrase, value) || !strings.ContainsAny(value, letters) || referring(value, true) || code(value) {
		return 0
	}
	p.mask(next, to)
	return to
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// literalAfter masks the text between single quotes of a statement of SQL.
func (p *pass) literalAfter(at int) int {
	from, to := p.quotedArgument(at)
	if p.undecided(at) {
		return 0
	}
	value := p.s[from:to]
	if value == "" || to == len(p.s) || p.s[to] != '\'' || referring(value, false) || sentence(value) || typeName(value) {
		return 0
	}
	p.maskPhrase(from, to)
	return to
}

// spacedName masks the value of NAME VALUE, as in `setenv API_KEY abc123def`. The
// name has marks, and the value must look like a secret.
func (p *pass) spacedName(i, end int) int {
	if end-i > nameBound || p.s[i] == '-' {
		return 0
	}
	k := nameKind(p.s[i:end])
	if k < token && !(k == keyLike && shouting(p.s[i:end])) || k >= header {
		return 0
	}
	from, to, mark := p.argument(end)
	if p.undecided(end) {
		return 0
	}
	value := p.s[from:to]
	if value == "" || value[0] == '-' || strings.IndexByte("=:|&", value[0]) >= 0 || referring(value, true) || mark == 0 && code(value) || !looksSecret(max(k, token), value) {
		return 0
	}
	if k == phrase && !shouting(p.s[i:end]) && !looksSecret(token, value) {
		return 0 // a column of a table, more often than not
	}
	p.mask(from, to)
	return to
}

// setter reports whether the last word of a name is a call that sets something: setPassword, withToken.
func setter(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return len(name) > 4 && (name[0]|0x20 == 's' && name[1:3] == "et" || name[0]|0x20 == 'w' && name[1:4] == "ith")
}

// given masks the secret that a call sets: setPassword("…"). s[i:end] is the name.
func (p *pass) given(i, end int) int {
	s := p.s
	if end-i > nameBound {
		return 0
	}
	name := s[i+strings.LastIndexByte(s[i:end], '.')+1 : end]
	k := nameKind(name)
	if k < token || k >= header || !endsSecret(name) {
		return 0
	}
	at := p.skipBlanks(end + 1)
	if at == len(s) || !isQuote(s[at]) {
		p.undecided(i)
		return 0
	}
	pr := pair{name: name, from: i, sep: '=', mark: s[at]}
	from, to := p.quotedArgument(at)
	if p.undecided(i) {
		return 0
	}
	value := s[from:to]
	if value == "" || to == len(s) || s[to] != s[at] || referring(value, false) || sentence(value) || typeName(value) || !literal(k, pr, value) {
		return 0
	}
	p.maskPhrase(from, to)
	return to
}

// quotedName masks the value of setenv("NAME", "VALUE") and of environ["NAME"] =
// "VALUE".
func (p *pass) quotedName(i, end int) int {
	s := p.s
	if end-i > nameBound || !p.has(end+1, ",") && !p.has(end+1, "]") {
		p.undecided(end)
		return 0
	}
	k := nameKind(s[i:end])
	indexed := s[end+1] == ']'
	if k < token && !(k == keyLike && shouting(s[i:end])) || k >= header || !endsSecret(s[i:end]) || !indexed && (i < 2 || s[i-2] != '(') {
		return 0
	}
	at := p.skipBlanks(end + 2)
	if indexed {
		if at == len(s) || s[at] != '=' {
			p.undecided(end)
			return 0
		}
		at = p.skipBlanks(at + 1)
	}
	if at == len(s) || !isQuote(s[at]) {
		p.undecided(end)
		return 0
	}
	from, to := p.quotedArgument(at)
	if p.undecided(end) {
		return 0
	}
	value := s[from:to]
	if value == "" || referring(value, false) || sentence(value) || template(value) || typeName(value) || camel(value) || !hasDigit(value) || !looksSecret(k, value) && k != phrase {
		return 0
	}
	p.maskPhrase(from, to)
	return to
}
