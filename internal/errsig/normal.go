package errsig

import (
	"slices"
	"strings"
	"unicode"

	"hermes/internal/lazy"
	"hermes/internal/text"
)

// Normal returns a message without the parts that are known to vary from one time
// to the next, in lower case: times, hashes and addresses, line numbers, process
// ids, durations and counts become <time>, <hex> and <n>, and what programs make up
// in the names of temporary files becomes *. All else that it names is part of what
// failed and stays.
func Normal(message string) string {
	words := strings.Fields(strings.ToLower(text.Prefix(message, maxMessage)))
	out := make([]string, len(words))
	for i, w := range words {
		before, after := "", ""
		if i > 0 {
			before = strings.Trim(words[i-1], punctuation)
		}
		if i+1 < len(words) {
			after = strings.Trim(words[i+1], punctuation)
		}
		out[i] = inside(w, func(core string) string { return varying(core, before, after) })
	}
	return strings.Join(out, " ")
}

const punctuation = `"'` + "`([{<>)]},;:.!?"

// beforeNumber and afterNumber are words beside numbers that differ each time.
var (
	beforeNumber = []string{"line", "column", "col", "pid", "process", "attempt", "try", "retry", "took", "offset", "position", "byte", "thread", "elapsed"}
	afterNumber  = []string{"bytes", "kb", "mb", "gb", "ms", "milliseconds", "seconds", "secs", "sec", "minutes", "times", "attempts", "retries", "lines", "items", "files", "passed", "failed", "warnings", "errors", "tests", "occurrences"}
	duration     = lazy.Regexp(`^[0-9]+(\.[0-9]+)?(ns|µs|us|ms|s|m|h|%)$`)
	// position is a line in a file, not the port of a host.
	position  = lazy.Regexp(`^(.*[/\\].*[^0-9:]|.*\.(?:go|py|js|mjs|ts|tsx|jsx|rs|c|h|cc|cpp|hpp|cs|java|kt|rb|sh|php|pl|lua|swift|scala|yml|yaml|json|toml|md|css|html|sql|tex|txt))(?::[0-9]+){1,2}$`)
	processID = lazy.Regexp(`^([a-z][a-z0-9_.-]*)\[[0-9]+\]?$`)
)

// varying replaces a word that is known to vary. before and after are its neighbours.
func varying(core, before, after string) string {
	if scheme, rest, ok := strings.Cut(core, "://"); ok {
		rest, _, _ = strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, "#")
		if host, path, ok := strings.Cut(rest, "/"); ok {
			return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
		}
		return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	if m := position().FindStringSubmatch(core); m != nil {
		return withoutRandom(m[1]) + ":<n>"
	}
	if temporary().MatchString(core) { // no time or number
		return withoutRandom(core)
	}
	switch {
	case isTime(core):
		return "<time>"
	case isHex(core) && (strings.HasPrefix(core, "0x") || strings.ContainsAny(core, "abcdef")):
		return "<hex>"
	case duration().MatchString(core), digits(core) && (slices.Contains(beforeNumber, before) || slices.Contains(afterNumber, after)):
		return numbers(core)
	}
	if m := processID().FindStringSubmatch(core); m != nil {
		return m[1] + "[<n>]"
	}
	return core
}

// digits reports whether a word is a number.
func digits(w string) bool {
	return w != "" && !strings.ContainsFunc(w, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
}

// generalForm returns a message as versions before stored it: with <path>, <url>,
// <n>, <hex> and <time> for all such words.
func generalForm(message string) string {
	var out []string
	for _, w := range strings.Fields(strings.ToLower(text.Prefix(message, maxMessage))) {
		w = general(w)
		if n := len(out); n > 0 && out[n-1] == w && strings.HasPrefix(w, "<") {
			continue
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// general replaces a word that may vary by its placeholder.
func general(word string) string { return inside(word, name) }

// inside replaces a word and keeps the punctuation around it.
func inside(word string, replace func(core string) string) string {
	start := strings.IndexFunc(word, func(r rune) bool { return !strings.ContainsRune(`"'`+"`([{<", r) })
	if start < 0 {
		return word
	}
	end := len(strings.TrimRight(word, `"'`+"`)]}>,;:.!?"))
	if end <= start {
		return word
	}
	return word[:start] + replace(word[start:end]) + word[end:]
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
