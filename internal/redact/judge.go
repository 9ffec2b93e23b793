package redact

import (
	"strings"
	"unicode"
)

// secret decides whether the value of a pair is a secret. Its name says that it
// may be one. Code that handles secrets, and prose about them, must stay readable.
func (p *pass) secret(k kind, pr pair, value string) bool {
	if value == "" || referring(value, pr.mark == 0) || strings.EqualFold(value, pr.name) || pr.mark == 0 && chained(value) {
		return false
	}
	value = value[:min(len(value), judged)]
	if version(value) || k != phrase && strings.Contains(value, "://") || pr.quoted != 0 && pr.mark == 0 && code(value) {
		return false
	}
	p.steps += 4 * len(value)
	if form, query := p.inForm(pr); form || query {
		return form || p.urls || inQuery(k, pr, value)
	}
	if p.ofRegistry(pr) {
		return true
	}
	if k == keyLike && lastIs(pr.name, "auth") && userPass(value) {
		return true
	}
	if k == keyLike && !shouting(pr.name) {
		return pr.mark != 0 && lastIs(pr.name, "pass") && !strings.ContainsAny(value, " \t{}") && looksSecret(phrase, value)
	}
	if shouting(pr.name) {
		return environment(k, pr, value)
	}
	if pr.mark != 0 {
		return literal(k, pr, value)
	}
	if strings.HasPrefix(pr.name, "-") {
		return k >= token && pr.sep == '=' && !code(value)
	}
	if !p.startsLine(pr) {
		return p.inList(k, pr, value)
	}
	if !pr.standalone {
		return k >= token && !code(value) && !typeName(value) && (p.listed(pr) || p.beforeCommand(k, pr, value))
	}
	if pr.sep == '=' {
		return p.setting(k, pr, value)
	}
	return field(k, pr, value)
}

// chained reports whether a value begins with another name and its separator, as in
// password=password=…, so that the inner pair is judged instead.
func chained(value string) bool {
	for i := 0; i < len(value) && i < nameBound; i++ {
		if c := class[value[i]]; c == letterByte || c == joinerByte {
			continue
		}
		if i == 0 || value[i] != '=' {
			return false
		}
		return i+1 == len(value) && word(value[:i]) && !padded(value) || i+1 < len(value) && value[i+1] != '=' && nameKind(value[:i]) > plain
	}
	return false
}

// padded reports whether a value may be base64 that ends with one equals sign.
func padded(value string) bool {
	return len(value) >= 12 && len(value)%4 == 0 && strings.ContainsFunc(value, unicode.IsUpper) && strings.ContainsFunc(value, unicode.IsLower)
}

// environment judges NAME=value and NAME: value.
func environment(k kind, pr pair, value string) bool {
	if pr.mark != 0 && strings.ContainsAny(value, " \t") {
		return k == phrase && !sentence(value)
	}
	if k == keyLike {
		return looksSecret(token, value) && !(pr.spaced && lastIs(pr.name, "pat")) || strings.HasPrefix(value, "base64:")
	}
	if pr.mark == 0 && pr.spaced && pr.sep == '=' { // a constant in code
		return !code(value) && looksSecret(token, value)
	}
	if pr.mark == 0 && pr.sep == ':' && word(value) {
		return k == phrase && !typeName(value)
	}
	if pr.mark != 0 && pr.spaced && typeName(value) {
		return false
	}
	if k == token && pr.mark != 0 && (len(value) < 4 || pr.spaced && !looksSecret(token, value) && len(value) < 16) {
		return false // in code
	}
	const longestCount = 9
	return k == phrase || !digits(value) || len(value) > longestCount
}

// literal judges a quoted value: a JSON field's, a YAML string, one in code.
func literal(k kind, pr pair, value string) bool {
	if strings.ContainsAny(value, " \t") {
		return k == phrase && !sentence(value) && !template(value) && password(pr.name)
	}
	if template(value) || camel(value) || strings.HasPrefix(value, "\\") || !strings.ContainsAny(value, letters+"0123456789") {
		return false
	}
	if pr.sep == '=' { // code more often than not
		return looksSecret(k, value) || k == phrase && password(pr.name) && len(value) >= 4 && !typeName(value) && !placeholder(value)
	}
	switch k {
	case phrase:
		return !typeName(value)
	case token:
		return !digits(value) && (len(value) >= 16 || len(value) >= 6 && hasDigit(value))
	}
	return looksSecret(token, value)
}

// setting judges key=value on its own line.
func (p *pass) setting(k kind, pr pair, value string) bool {
	if code(value) {
		return false
	}
	if strings.Contains(pr.name, ".") && !pr.spaced {
		return k >= token
	}
	if k == phrase && p.atMargin(pr) && (!pr.spaced || !word(value) || p.inSection(pr)) { // of an ini file
		return !typeName(value)
	}
	return looksSecret(k, value)
}

// inSection reports whether the heading of a section, as [client], comes before.
func (p *pass) inSection(pr pair) bool {
	from := max(0, pr.from-lineBound)
	before := p.s[from:pr.from]
	p.steps += len(before)
	at := strings.LastIndex(before, "\n[")
	return at >= 0 || from == 0 && strings.HasPrefix(before, "[")
}

// beforeCommand reports whether the pair sets a variable for the command after it.
func (p *pass) beforeCommand(k kind, pr pair, value string) bool {
	return pr.sep == '=' && !pr.spaced && p.atMargin(pr) && pr.end < len(p.s) && isBlank(p.s[pr.end]) && (looksSecret(k, value) || strings.Contains(pr.name, "_"))
}

// field judges "key: value" on its own line: YAML or a header.
func field(k kind, pr pair, value string) bool {
	if code(value) || typeName(value) || k == token && camelWord(value) {
		return false
	}
	switch k {
	case phrase:
		return !strings.HasPrefix(value, "!") && !(strings.HasSuffix(value, "?") && word(strings.TrimSuffix(value, "?")))
	case token:
		sure := endsSecret(pr.name) && (strings.Contains(pr.name, "-") || len(value) >= 16)
		return !digits(value) && (sure || len(value) >= 6 && hasDigit(value))
	}
	return looksSecret(token, value)
}

// inList judges name=value among others on a line: arguments of a command, a
// connection string, arguments of a call in code.
func (p *pass) inList(k kind, pr pair, value string) bool {
	if pr.sep != '=' || pr.spaced || pr.from == 0 || code(value) {
		return false
	}
	s := p.s
	switch before := s[pr.from-1]; {
	case before == ';':
		return k >= token && !typeName(value) && !strings.Contains(strings.TrimRight(value, "="), "=")
	case before == '=': // --from-literal=password=…
		return k >= token
	case before == ',':
		return looksSecret(k, value)
	case isBlank(before), isQuote(before):
		return looksSecret(k, value) || k >= token && !word(value) || k >= token && !typeName(value) && p.amongPairs(pr)
	}
	return false
}

// listed reports whether another pair follows, as in a connection string.
func (p *pass) listed(pr pair) bool {
	return pr.sep == '=' && !pr.spaced && pr.end < len(p.s) && (p.s[pr.end] == ';' || p.s[pr.end] == ',') && p.nameFollows(pr.end+1)
}

// amongPairs reports whether the pair follows an option or another pair without a
// comma between, so that it is no argument of a call.
func (p *pass) amongPairs(pr pair) bool {
	s := p.s
	at := pr.from
	for at > 0 && pr.from-at < nameBound && (isBlank(s[at-1]) || isQuote(s[at-1])) {
		at--
	}
	end := at
	pairs := false
	for at > 0 && end-at < nameBound && !isBlank(s[at-1]) && s[at-1] != '\n' {
		at--
		pairs = pairs || s[at] == '='
	}
	p.steps += pr.from - at
	if at == end || strings.IndexByte(",({[", s[end-1]) >= 0 {
		return false
	}
	return pairs || s[at] == '-'
}

// ofRegistry reports whether the name belongs to the address of a registry, as
// .npmrc has it: //registry.npmjs.org/:_authToken.
func (p *pass) ofRegistry(pr pair) bool {
	return pr.from > 1 && p.s[pr.from-1] == ':' && p.s[pr.from-2] == '/'
}

// atMargin reports whether the name is at the beginning of its line.
func (p *pass) atMargin(pr pair) bool { return pr.from == 0 || p.s[pr.from-1] == '\n' }

// startsLine reports whether only indentation, a list or diff mark, curl's prompt
// or an opening quote comes before the name.
func (p *pass) startsLine(pr pair) bool {
	s := p.s
	at := pr.from
	if at > 0 && isQuote(s[at-1]) {
		return true
	}
	minimum := max(0, at-nameBound)
	for at > minimum && strings.IndexByte(" \t-+<>*", s[at-1]) >= 0 {
		at--
	}
	for _, lead := range [...]string{"export", "set", "env"} {
		if strings.HasSuffix(s[minimum:at], lead) && at < pr.from {
			at -= len(lead)
			break
		}
	}
	for at > minimum && isBlank(s[at-1]) {
		at--
	}
	p.steps += pr.from - at
	return at == 0 || s[at-1] == '\n'
}

// formMemo is the mark that decided whether the last pair was part of an address.
type formMemo struct {
	known bool
	upto  int
	at    int  // of the mark
	query bool // it begins a query
}

// inForm reports whether the pair is part of a form body or of a URL query.
func (p *pass) inForm(pr pair) (form, query bool) {
	s := p.s
	if pr.sep != '=' || pr.spaced || pr.mark != 0 {
		return false, false
	}
	before := pr.from > 0 && (s[pr.from-1] == '&' || s[pr.from-1] == '?')
	p.read(pr.end, min(len(s), pr.end+1))
	if !before && (pr.end >= len(s) || s[pr.end] != '&' || pr.end+1 < len(s) && !letterOrDigit(s[pr.end+1])) {
		return false, false
	}
	query = p.inAddress(pr.from)
	return !query, query
}

// inAddress reports whether a place belongs to an address or to the query of one:
// a question mark or two slashes come before it, without a blank or a quote between.
func (p *pass) inAddress(from int) bool {
	s := p.s
	const reach = 2048 // as far back as an address may begin
	at := from
	for {
		if p.form.known && at == p.form.upto {
			break // the rest was read for the pair before
		}
		if at == 0 || at <= from-reach {
			p.form = formMemo{known: true, at: at}
			break
		}
		c := s[at-1]
		if query := c == '?' || c == '/' && at > 1 && s[at-2] == '/'; query || c <= ' ' || isQuote(c) {
			p.form = formMemo{known: true, at: at, query: query}
			break
		}
		at--
	}
	p.steps += from - at
	p.form.upto = from
	return p.form.query && from-p.form.at < reach
}
