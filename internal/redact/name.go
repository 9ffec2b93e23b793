package redact

import "strings"

// kind says how likely a name announces a secret.
type kind int

const (
	plain   kind = iota // not a secret
	keyLike             // an environment variable that ends in KEY, AUTH, PASS: only if the value looks secret
	token               // a token, API key, credential
	phrase              // a password or secret: any value counts
	header              // Authorization: a scheme and a credential
	cookie              // Cookie: pairs of names and values
)

// SecretName reports whether a name (of a variable, a field, a header) announces
// a secret, such as API_KEY, clientSecret, PGPASSWORD or db.password.
func SecretName(name string) bool { return nameKind(name) >= token }

// longestWord is the longest word of a name that is read.
const longestWord = 32

// nameKind reads the words of a name, in snake, kebab, dotted or camel case.
func nameKind(name string) kind {
	if !mayAnnounce(name) || name == "PWD" || name == "OLDPWD" { // folders, not passwords
		return plain
	}
	var buf [longestWord]byte
	var kept [longestWord]byte // the word before, for "api key" and similar names
	before := 0                // its length
	found, secretive := plain, false
	for at := 0; at < len(name); {
		from, to := nextWord(name, at)
		at = to
		if from == to {
			break
		}
		if to-from > len(buf) {
			before = 0
			continue
		}
		word := lower(&buf, name[from:to])
		k := wordKind(word, string(kept[:before]))
		if k == plain && unmakes(word) {
			found, secretive = plain, false
			before = 0
			continue
		}
		secretive = secretive || k > plain
		found = max(found, k)
		before = copy(kept[:], word)
	}
	if !secretive {
		return plain
	}
	return found
}

// endsSecret reports whether the last word of a name is the one that announces.
func endsSecret(name string) bool {
	from, to := 0, 0
	for at := 0; at < len(name); {
		f, t := nextWord(name, at)
		if f == t {
			break
		}
		from, to, at = f, t, t
	}
	return nameKind(name[from:to]) > plain
}

// mayAnnounce rejects most names cheaply, by the stems that every secret word has.
func mayAnnounce(name string) bool {
	for i := 0; i+3 <= len(name); i++ {
		switch name[i] | 0x20 {
		case 'k', 's', 'p', 't', 'c', 'a', 'j', 'm', 'b':
		default:
			continue
		}
		stem := [3]byte{name[i] | 0x20, name[i+1] | 0x20, name[i+2] | 0x20}
		switch string(stem[:]) {
		case "key", "tok", "sec", "pas", "pwd", "cre", "aut", "coo", "psk", "pat", "jwt", "mne", "bea", "ken":
			return true
		}
	}
	return false
}

func wordKind(word, before string) kind {
	switch word {
	case "password", "passwd", "pwd", "passphrase", "secret", "passcode", "passwords", "secrets", "psk", "mnemonic", "passwort", "kennwort":
		return phrase
	case "token", "apikey", "apikeys", "credential", "credentials", "jwt", "bearer":
		return token
	case "authorization":
		return header
	case "cookie":
		return cookie
	case "key", "keys":
		switch {
		case before == "public", word == "keys" && !qualifies(before):
			return plain
		case qualifies(before):
			return token
		}
		return keyLike
	case "tokens": // a count, unless it is said whose they are
		switch before {
		case "access", "refresh", "auth", "api", "service":
			return token
		}
		return plain
	case "pass":
		switch before {
		case "":
			return keyLike
		case "test", "tests", "check", "checks", "multi", "single", "one", "two", "first", "second", "last", "next", "num", "number", "render",
			"did", "must", "should", "all", "low", "high", "band", "max", "can", "per":
			return plain // a result or a run
		}
		return phrase
	case "auth", "pat":
		return keyLike
	}
	return runTogether(word)
}

// endings are the last words of names that are written without a mark between them.
var endings = [...]struct {
	text string
	kind kind
}{
	{"password", phrase}, {"passwd", phrase}, {"passphrase", phrase}, {"passcode", phrase}, {"secret", phrase}, {"pwd", phrase},
	{"passwort", phrase}, {"kennwort", phrase}, {"token", token}, {"credential", token}, {"credentials", token},
}

// runTogether finds names that are written without a mark between their words:
// pgpassword, githubtoken, sshpass, secretkey.
func runTogether(word string) kind {
	for _, e := range endings {
		if strings.HasSuffix(word, e.text) && word != "nopasswd" {
			return e.kind
		}
	}
	if front, ok := strings.CutSuffix(word, "key"); ok {
		for _, before := range [...]string{"api", "auth", "access", "secret", "private", "signing", "encryption", "master", "shared", "account", "license"} {
			if strings.HasSuffix(front, before) {
				return token
			}
		}
	}
	front, ok := strings.CutSuffix(word, "pass")
	if !ok {
		return plain
	}
	switch front {
	case "com", "encom", "by", "buy", "mini", "ask", "tres", "sur", "under", "over", "multi", "single", "one", "two", "first", "second", "low", "high", "band", "all", "re", "render", "boarding":
		return plain // compass, bypass, askpass and other words
	}
	return phrase
}

// qualifies reports whether the word before "key" makes it a secret.
func qualifies(before string) bool {
	switch before {
	case "api", "access", "private", "secret", "auth", "encryption", "signing", "master", "account", "subscription", "license", "service", "session",
		"shared", "preshared", "client", "storage", "admin", "deploy", "webhook", "hmac", "aes":
		return true
	}
	return false
}

// unmakes reports whether a word makes the name mean something else: the location
// of the secret, its length, its expiry.
func unmakes(word string) bool {
	switch word {
	case "file", "path", "dir", "sock", "socket", "url", "uri", "endpoint", "host", "name", "names", "id", "ids", "type", "types",
		"limit", "limits", "count", "counts", "ttl", "expiry", "expires", "expiration", "expire", "len", "length", "size", "prefix",
		"suffix", "timeout", "version", "algorithm", "alg", "format", "policy", "mode", "status", "enabled", "required", "pattern",
		"regex", "index", "usage", "budget", "env", "var", "source", "provider", "strategy", "class", "field", "hint", "method",
		"rotation", "manager", "store", "ref", "kind", "map", "list", "set", "per", "cost", "price", "rate", "window",
		"prompt", "message", "error", "title", "placeholder", "tooltip", "description", "help", "text", "reset", "changed", "strength", "rules", "min", "max", "age", "location", "label", "used", "total", "remaining", "ratio", "speed", "budgets",
		"stdin", "program", "command", "cmd", "helper", "agent", "column", "table", "input", "form", "view", "button", "link":
		return true
	}
	return false
}

// nextWord finds the next run of letters and digits, ended also by a capital
// after a small letter.
func nextWord(name string, at int) (from, to int) {
	for at < len(name) && !letterOrDigit(name[at]) {
		at++
	}
	from = at
	for at < len(name) && letterOrDigit(name[at]) {
		if at > from && isUpper(name[at]) && isLower(name[at-1]) {
			break
		}
		// HTTPToken: the last capital of a run begins the next word.
		if at > from && isUpper(name[at]) && isUpper(name[at-1]) && at+1 < len(name) && isLower(name[at+1]) {
			break
		}
		at++
	}
	return from, at
}

func lower(buf *[longestWord]byte, word string) string {
	n := copy(buf[:], word)
	for i, c := range buf[:n] {
		if isUpper(c) {
			buf[i] = c + 'a' - 'A'
		}
	}
	// Trailing digits number a name; they do not change it.
	for n > 0 && buf[n-1] >= '0' && buf[n-1] <= '9' {
		n--
	}
	return string(buf[:n])
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func letterOrDigit(c byte) bool {
	return isUpper(c) || isLower(c) || c >= '0' && c <= '9'
}
