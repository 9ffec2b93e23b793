package redact

import (
	"strings"
	"unicode"
)

// secret decides whether the value of a pair is a secret. Its name says that it
// may be one. Code that handles secrets, and prose about them, must stay readable.
func (p *pass) secret(k kind, pr pair, value string) bool {
	if value == "" || referring(value, pr.mark == 0) || strings.EqualFold(value, pr.name) {
		return false
	}
	if form, query := p.inForm(pr); form || query {
		return form || p.urls
	}
	if shouting(pr.name) {
		return environment(k, pr, value)
	}
	if pr.mark != 0 {
		return literal(k, pr, value)
	}
	if strings.HasPrefix(pr.name, "--") {
		return k >= token && pr.sep == '=' && !code(value)
	}
	if !p.startsLine(pr) {
		return !pr.spaced && pr.sep == '=' && p.afterBlank(pr) && !code(value) && looksSecret(k, value)
	}
	if !pr.standalone {
		return false
	}
	if pr.sep == '=' {
		return setting(k, pr, value)
	}
	return field(k, pr, value)
}

// environment judges NAME=value and NAME: value.
func environment(k kind, pr pair, value string) bool {
	if strings.ContainsAny(value, " \t") && pr.mark != 0 {
		return k == phrase && hasDigit(value)
	}
	if k == keyLike {
		return looksSecret(token, value)
	}
	if pr.mark == 0 && pr.spaced && pr.sep == '=' { // a constant in code
		return !code(value) && looksSecret(token, value)
	}
	if pr.mark == 0 && pr.sep == ':' && word(value) {
		return k == phrase && !typeName(value)
	}
	return k == phrase || len(value) > 6 || !digits(value)
}

// literal judges a quoted value: a JSON field's, a YAML string, one in code.
func literal(k kind, pr pair, value string) bool {
	if strings.ContainsAny(value, " \t{}%") {
		return false
	}
	if pr.sep == '=' { // code more often than not
		return looksSecret(k, value)
	}
	switch k {
	case phrase:
		return !typeName(value)
	case token:
		return len(value) >= 16 || len(value) >= 6 && hasDigit(value)
	}
	return looksSecret(token, value)
}

// setting judges key=value on its own line.
func setting(k kind, pr pair, value string) bool {
	if code(value) {
		return false
	}
	if strings.Contains(pr.name, ".") && !pr.spaced {
		return k >= token
	}
	return looksSecret(k, value)
}

// field judges "key: value" on its own line: YAML or a header.
func field(k kind, pr pair, value string) bool {
	if code(value) || typeName(value) {
		return false
	}
	switch k {
	case phrase:
		return true
	case token:
		return strings.Contains(pr.name, "-") || len(value) >= 16 || len(value) >= 6 && hasDigit(value)
	}
	return looksSecret(token, value)
}

// looksSecret judges only a value, if the name may be that of a variable.
func looksSecret(k kind, value string) bool {
	if k == phrase {
		return len(value) >= 6 && (hasDigit(value) || strings.ContainsAny(value, "!@#$%^&*+?~"))
	}
	const piece = 12
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_./", r) }) {
		if len(part) >= piece && hasDigit(part) {
			return true
		}
	}
	return len(value) >= 40 && hasDigit(value) && strings.IndexFunc(value, unicode.IsLower) >= 0 && strings.IndexFunc(value, unicode.IsUpper) >= 0 &&
		!strings.ContainsAny(value, " _")
}

// referring reports whether a value only points to a secret, is a placeholder, or
// was masked before.
func referring(value string, bare bool) bool {
	switch c := value[0]; {
	case c == '$' && len(value) > 1 && !hasDigit(value[1:2]), c == '<', c == '%' && strings.HasSuffix(value, "%"):
		return true
	case strings.IndexByte("{[(&", c) >= 0 && bare, strings.Trim(value, "*") == "":
		return true
	}
	if strings.Contains(value, "...") || strings.Contains(value, "***") || strings.ContainsRune(value, '…') {
		return true
	}
	if strings.HasPrefix(value, "${") || strings.Contains(value, "{{") || bare && strings.Contains(value, "${") {
		return true
	}
	short := strings.ToLower(value[:min(len(value), 12)])
	for _, placeholder := range [...]string{"your", "xxx", "example", "placeholder", "changeme", "redacted", "os.", "env.", "process.env", "secrets.", "env:", "vault:", "keychain:"} {
		if strings.HasPrefix(short, placeholder) {
			return true
		}
	}
	switch short {
	case "true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off", "0", "1":
		return true
	}
	return short[0] == '/' && !hasDigit(value) && !strings.ContainsAny(value, "+=") || bare && (strings.HasPrefix(short, "~/") || strings.HasPrefix(short, "./"))
}

// code reports whether a bare value is an expression: a call, an index, a chain
// of attributes.
func code(value string) bool {
	if strings.ContainsAny(value, "()[]{}") || strings.Contains(value, "->") || strings.Contains(value, "::") || strings.HasSuffix(value, ",") || strings.HasSuffix(value, ";") {
		return true
	}
	chained := false
	for part := range strings.SplitSeq(value, ".") {
		if !word(part) || len(part) > 24 {
			return false
		}
		chained = chained || len(part) < len(value)
	}
	return chained
}

// word reports whether a value is one plain identifier without a digit at either
// end.
func word(value string) bool {
	if value == "" {
		return false
	}
	for i := range len(value) {
		if class[value[i]] != wordByte {
			return false
		}
	}
	return !hasDigit(value)
}

func typeName(value string) bool {
	switch strings.ToLower(value) {
	case "string", "str", "text", "bytes", "number", "int", "integer", "bool", "boolean", "any", "object", "optional", "required",
		"password", "secret", "token", "hidden", "inherit", "default", "unknown", "secretstr", "read", "write", "unset", "missing", "empty":
		return true
	}
	return false
}

func digits(value string) bool {
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return false
		}
	}
	return true
}

// shouting reports whether a name is written like an environment variable.
func shouting(name string) bool {
	upper := 0
	for i := range len(name) {
		if isLower(name[i]) {
			return false
		}
		if isUpper(name[i]) {
			upper++
		}
	}
	return upper >= 3
}

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
	for at > minimum && (s[at-1] == ' ' || s[at-1] == '\t') {
		at--
	}
	return at == 0 || s[at-1] == '\n'
}

// afterBlank reports whether a blank comes before the name, as in a connection
// string.
func (p *pass) afterBlank(pr pair) bool {
	return pr.from > 0 && (p.s[pr.from-1] == ' ' || p.s[pr.from-1] == ';')
}

// inForm reports whether the pair is part of a form body or of a URL query.
func (p *pass) inForm(pr pair) (form, query bool) {
	s := p.s
	if pr.sep != '=' || pr.spaced || pr.mark != 0 {
		return false, false
	}
	before := pr.from > 0 && (s[pr.from-1] == '&' || s[pr.from-1] == '?')
	if !before && (pr.end >= len(s) || s[pr.end] != '&' || pr.end+1 < len(s) && !letterOrDigit(s[pr.end+1])) {
		return false, false
	}
	const reach = 2048 // as far back as an address may begin
	for at := pr.from; at > 0 && at > pr.from-reach; at-- {
		switch c := s[at-1]; {
		case c == '?', c == '/' && at > 1 && s[at-2] == '/':
			return false, true
		case c <= ' ', isQuote(c):
			return true, false
		}
	}
	return true, false
}
