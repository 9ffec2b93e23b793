package errsig

import (
	"slices"
	"strings"
	"unicode"
)

// Normal returns a message without the parts that vary: in lower case, with
// <path>, <url>, <n>, <hex> and <time> instead of such words.
func Normal(message string) string {
	var out []string
	for _, w := range strings.Fields(strings.ToLower(clip(message))) {
		w = general(w)
		if n := len(out); n > 0 && out[n-1] == w && strings.HasPrefix(w, "<") {
			continue
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// general replaces a word that varies by its placeholder. Punctuation around
// the word stays.
func general(word string) string {
	start := strings.IndexFunc(word, func(r rune) bool { return !strings.ContainsRune(`"'`+"`([{<", r) })
	if start < 0 {
		return word
	}
	end := len(strings.TrimRight(word, `"'`+"`)]}>,;:.!?"))
	if end <= start {
		return word
	}
	core := word[start:end]
	return word[:start] + name(core) + word[end:]
}

func name(core string) string {
	switch {
	case strings.Contains(core, "://"):
		return "<url>"
	case isPath(core):
		return "<path>"
	case isTime(core):
		return "<time>"
	case isHex(core):
		return "<hex>"
	}
	return numbers(core)
}

func isPath(w string) bool {
	if strings.HasPrefix(w, "~/") || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") || strings.HasPrefix(w, `\\`) {
		return true
	}
	if len(w) > 2 && w[1] == ':' && (w[2] == '\\' || w[2] == '/') {
		return true
	}
	return strings.HasPrefix(w, "/") && len(w) > 1 || strings.Count(w, "/") >= 2
}

func isTime(w string) bool {
	digits := strings.Count(w, ":") + strings.Count(w, "-")
	return digits >= 2 && strings.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(":-.+tz", r) }) < 0
}

func isHex(w string) bool {
	w = strings.TrimPrefix(strings.ReplaceAll(w, "-", ""), "0x")
	if len(w) < 7 || !strings.ContainsAny(w, "0123456789") {
		return false
	}
	return strings.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) < 0
}

// numbers replaces each run of digits that is not part of a name.
func numbers(w string) string {
	if !strings.ContainsAny(w, "0123456789") || unicode.IsLetter([]rune(w)[0]) && !strings.ContainsAny(w, ":=") {
		return w
	}
	var b strings.Builder
	in := false
	for _, r := range w {
		digit := r >= '0' && r <= '9'
		if digit && !in {
			b.WriteString("<n>")
		}
		if !digit {
			b.WriteRune(r)
		}
		in = digit
	}
	return b.String()
}

// classes are the kinds of failure and the words that show them, the most
// certain first.
var classes = []struct {
	name  string
	words []string
}{
	{"missing_module", []string{"no module named", "modulenotfound", "cannot find module", "cannot find package", "no required module", "package not found"}},
	{"command_not_found", []string{"command not found", "executable file not found", "is not recognized as an internal"}},
	{"permission", []string{"permission denied", "not permitted", "access denied", "eacces", "forbidden", "unauthorized", "read-only file system"}},
	{"not_found", []string{"no such file", "not found", "does not exist", "enoent", "cannot find", "404"}},
	{"exists", []string{"already exists", "file exists", "eexist"}},
	{"timeout", []string{"timed out", "timeout", "deadline exceeded", "ran out of"}},
	{"network", []string{"connection refused", "connection reset", "could not resolve", "network is unreachable", "no route to host", "certificate", "tls", "ssl"}},
	{"conflict", []string{"conflict", "locked", "in use", "busy", "diverged", "rejected"}},
	{"space", []string{"no space left", "out of memory", "cannot allocate", "killed", "disk quota"}},
	{"syntax", []string{"syntax error", "syntaxerror", "parse error", "unexpected token", "unexpected end", "invalid syntax", "unterminated"}},
	{"arguments", []string{"unknown option", "unrecognized", "invalid option", "usage:", "missing argument", "invalid argument", "unknown flag", "unknown command"}},
	{"type", []string{"typeerror", "type mismatch", "cannot use", "undefined", "attributeerror", "nameerror", "cannot convert"}},
}

func classOf(message string) string {
	low := strings.ToLower(message)
	for _, c := range classes {
		if slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(low, w) }) {
			return c.name
		}
	}
	return "error"
}

// Alike returns how similar two patterns are, from 0 to 1: the number of words
// that both have, divided by the number of words that either has.
func Alike(a, b string) float64 {
	if a == b {
		return 1
	}
	in := map[string]int{}
	for _, w := range strings.Fields(a) {
		in[w] |= 1
	}
	for _, w := range strings.Fields(b) {
		in[w] |= 2
	}
	if len(in) == 0 {
		return 0
	}
	both := 0
	for _, who := range in {
		if who == 3 {
			both++
		}
	}
	return float64(both) / float64(len(in))
}
