package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// judged is how much of a value is read to judge it.
const judged = 128

// looksSecret judges only a value, if the name may be that of a variable.
func looksSecret(k kind, value string) bool {
	value = value[:min(len(value), judged)]
	if k == phrase {
		return len(value) >= 6 && (hasDigit(value) || strings.ContainsAny(value, "!@#$%^&*+?~"))
	}
	const piece = 12
	from, digit := 0, false
	for i := 0; i <= len(value); i++ {
		if i < len(value) && strings.IndexByte("-_./", value[i]) < 0 {
			digit = digit || isDigit(value[i])
			continue
		}
		if i-from >= piece && digit {
			return true
		}
		from, digit = i+1, false
	}
	if len(value) < 32 || strings.ContainsAny(value, " _") || strings.IndexFunc(value, unicode.IsLower) < 0 {
		return false
	}
	upper := strings.IndexFunc(value, unicode.IsUpper) >= 0
	if strings.ContainsAny(value, "/.") { // base64, or a path
		return len(value) >= 40 && upper && hasDigit(value)
	}
	return upper || hasDigit(value)
}

// password reports whether a name says password, rather than secret or key, which
// are also the names of other things.
func password(name string) bool {
	name = strings.ToLower(name)
	for _, word := range [...]string{"pass", "pwd", "psk", "mnemonic"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// userPass reports whether a value is user:password in base64.
func userPass(value string) bool {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil || len(raw) < 3 {
		return false
	}
	for _, c := range raw {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return strings.IndexByte(string(raw), ':') > 0
}

// version reports whether a value is the version of a dependency, as "^7.0.4".
func version(value string) bool {
	value = strings.TrimLeft(value, "^~<>=v ")
	dots := 0
	for i := range len(value) {
		switch c := value[i]; {
		case c == '.':
			dots++
		case dots == 0 && !isDigit(c), !wordByte(c) && c != '-' && c != '+':
			return false
		}
	}
	return dots > 0 && len(value) > 2 && isDigit(value[0])
}

// camelWord reports whether a value is an identifier of code: small letters, with
// single capitals at the beginning of words.
func camelWord(value string) bool {
	if !word(value) || !isLower(value[0]) || strings.IndexFunc(value, unicode.IsUpper) < 0 {
		return false
	}
	for i := 1; i < len(value); i++ {
		if isUpper(value[i]) && (i+2 >= len(value) || !isLower(value[i+1]) || !isLower(value[i+2])) {
			return false
		}
	}
	return true
}

// camel reports whether a value is itself the name of a secret, as in code.
func camel(value string) bool {
	return !hasDigit(value) && strings.IndexFunc(value, unicode.IsUpper) > 0 && strings.IndexFunc(value, unicode.IsLower) >= 0 &&
		!strings.ContainsAny(value, " -!@#$%^&*+=?~/") && nameKind(value) >= token
}

// template reports whether a quoted value has places to be filled in.
func template(value string) bool {
	if strings.ContainsAny(value, "{}") {
		return true
	}
	for i := 0; i+1 < len(value); i++ {
		if value[i] == '%' && strings.IndexByte("svdq(", value[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// referring reports whether a value only points to a secret, is a placeholder, or
// was masked before.
func referring(value string, bare bool) bool {
	if value == "" {
		return false
	}
	value = value[:min(len(value), judged)]
	switch c := value[0]; {
	case c == '#' && len(value) <= len("#rrggbbaa"), c == '$' && len(value) > 1 && !isDigit(value[1]), c == '<', c == '%' && (strings.HasSuffix(value, "%") || len(value) < 4):
		return true
	case strings.IndexByte("{[(&", c) >= 0 && bare, strings.Trim(value, "*") == "":
		return true
	}
	if (strings.ContainsAny(value, ".*{") || strings.IndexByte(value, 0xe2) >= 0) && refers(value, bare) {
		return true
	}
	short := strings.ToLower(value[:min(len(value), 12)])
	for _, mark := range [...]string{"xxx", "os.", "env.", "process.env", "secrets.", "env:", "vault:", "keychain:", "file:", "var."} {
		if strings.HasPrefix(short, mark) {
			return true
		}
	}
	for _, mark := range [...]string{"your", "example", "placeholder", "changeme", "redacted"} {
		if strings.HasPrefix(short, mark) {
			return !hasDigit(value)
		}
	}
	switch short {
	case "true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off", "0", "1":
		return true
	}
	return short[0] == '/' && !hasDigit(value) && !strings.ContainsAny(value, "+=") || bare && (strings.HasPrefix(short, "~/") || strings.HasPrefix(short, "./"))
}

// refers reports whether a value has the marks of a mask or of a variable.
func refers(value string, bare bool) bool {
	return strings.Contains(value, "...") || strings.Contains(value, "***") || strings.Contains(value, "…") ||
		strings.HasPrefix(value, "${") || strings.Contains(value, "{{") || bare && strings.Contains(value, "${")
}

// placeholder reports whether a password is the word for one, as documents write
// user:password.
func placeholder(value string) bool {
	switch strings.ToLower(value) {
	case "pass", "password", "passwd", "pwd", "secret", "token", "api_key", "apikey", "access_token":
		return true
	}
	return false
}

// code reports whether a bare value is an expression: a call, an index, a chain
// of attributes.
func code(value string) bool {
	value = value[:min(len(value), judged)]
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

// word reports whether a value is one plain identifier without a digit.
func word(value string) bool {
	if value == "" {
		return false
	}
	for i := range len(value) {
		if !wordByte(value[i]) || isDigit(value[i]) {
			return false
		}
	}
	return true
}

// typeName reports whether a value is the type or the state of a secret, not one.
func typeName(value string) bool {
	switch strings.ToLower(value) {
	case "string", "str", "text", "bytes", "number", "int", "integer", "bool", "boolean", "any", "object", "optional", "required",
		"password", "secret", "token", "hidden", "inherit", "default", "unknown", "secretstr", "read", "write", "unset", "missing", "empty",
		"incorrect", "wrong", "invalid", "valid", "changed", "updated", "expired", "ok", "okay", "rejected", "accepted", "denied", "correct",
		"files", "compat", "strong", "weak", "plain", "plaintext", "hashed", "encrypted", "masked", "omitted", "removed", "set", "below", "passed", "failed", "disabled", "enabled", "stored", "prompt", "ask",
		"vergessen", "ändern", "geändert", "falsch", "oublié", "olvidada", "olvidaste":
		return true
	}
	return false
}

// common reports whether a word after an option belongs to a sentence about it.
func common(value string) bool {
	switch strings.ToLower(strings.Trim(value, ".,;:")) {
	case "flag", "option", "options", "argument", "arguments", "parameter", "value", "instead", "is", "and", "or", "with", "to", "if", "when", "for", "from",
		"file", "stdin", "prompt", "as", "in", "on", "at", "of", "the", "a", "an", "must", "can", "may", "will", "too", "first", "again", "only", "then", "but", "not":
		return true
	}
	return typeName(value)
}

// sentence reports whether a quoted text with blanks speaks about a password instead
// of being one: it has a word about passwords or a word of a prompt, or ends like a
// sentence.
func sentence(value string) bool {
	if !strings.Contains(value, " ") {
		return false
	}
	if last := value[len(value)-1]; strings.IndexByte(".?:", last) >= 0 || strings.HasSuffix(value, "…") {
		return true
	}
	for w := range strings.FieldsSeq(value) {
		switch w = strings.ToLower(strings.Trim(w, ".,;:!?()'\"")); w {
		case "your", "must", "should", "please", "enter", "required", "invalid", "optional", "forgot", "reset", "confirm", "minimum", "characters",
			"cannot", "repeat", "least":
			return true
		default:
			if nameKind(w) > keyLike {
				return true
			}
		}
	}
	return false
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func digits(value string) bool {
	for i := range len(value) {
		if !isDigit(value[i]) {
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
