package code

import (
	"strings"

	"hermes/internal/policy/shell/lex"
)

// harmlessNames are the names that harmless code may use, for each language:
// printing, literals, versions and plain functions of values. Everything else is
// unknown.
func harmlessNames(kind string) string {
	switch kind {
	case "python", "pypy":
		return " import from as print len str int float bool list dict set tuple sorted sum min max abs round range enumerate zip reversed repr type " +
			"if else for in not and or is None True False lambda " +
			"sys version version_info executable platform major minor micro maxsize stdin read argv prefix byteorder " +
			"json load loads dumps indent ensure_ascii sort_keys get keys values items join split strip upper lower startswith endswith replace format " +
			"math pi sqrt log floor ceil time datetime now today utcnow isoformat strftime timezone utc timestamp date " +
			"random randint choice secrets token_hex token_urlsafe uuid uuid4 hashlib sha256 sha1 md5 hexdigest encode decode base64 b64encode b64decode " +
			"string ascii_letters digits machine system release python_version node sysconfig get_paths get_path site getsitepackages getusersitepackages __version__ end sep "
	case "node", "nodejs", "bun":
		return " console log process version versions arch platform node v8 JSON stringify parse Math max min round floor ceil random PI sqrt " +
			"require crypto randomBytes randomUUID createHash update digest toString hex base64 new Date now toISOString Object keys values entries length join split " +
			"map filter sort slice null true false undefined typeof const let var if else return argv "
	case "ruby":
		return " puts print p RUBY_VERSION RUBY_PLATFORM RUBY_ENGINE upcase downcase reverse length to_s to_i join nil true false "
	case "perl":
		return " print say join reverse sort length uc lc "
	case "php":
		return " echo print phpversion PHP_VERSION PHP_OS PHP_EOL strlen strtoupper json_encode "
	case "lua", "luajit":
		return " print _VERSION "
	}
	return ""
}

// HarmlessCode reports whether code visibly changes nothing and starts nothing.
// It knows one statement of names from a list, literals and operators.
func HarmlessCode(name, text string) bool {
	kind := strings.TrimRight(name, "0123456789.")
	names := harmlessNames(kind)
	if names == "" || len(text) > lex.MaxValue || lex.Dynamic(text) {
		return false
	}
	python := strings.HasPrefix(name, "py")
	last := byte('\n')
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case lex.IsLetter(c):
			end := i
			for end < len(text) && (lex.IsLetter(text[end]) || text[end] >= '0' && text[end] <= '9') {
				end++
			}
			if end < len(text) && (text[end] == '"' || text[end] == '\'') && python {
				return false // f"…" may hold code
			}
			if !strings.Contains(names, " "+text[i:end]+" ") {
				return false
			}
			i, last = end, 'a'
			continue
		case c == '"' || c == '\'':
			end := stringLiteral(text[i:])
			if end == 0 || !python && strings.ContainsAny(text[i:i+end], "$#@{") && c == '"' {
				return false
			}
			if last == '(' && strings.HasSuffix(text[:i], "require(") && !isHarmlessModule(text[i+1:i+end-1]) {
				return false
			}
			i, last = i+end, '"'
			continue
		case strings.IndexByte(" \t\n;,.()[]{}:+-*/%<>=!0123456789", c) < 0:
			return false
		}
		if strings.IndexByte("<>", c) >= 0 && (kind == "perl" || kind == "ruby" || kind == "php") { // perl opens files and commands with <>
			return false
		}
		// What a value in brackets names, or what a call returns, is unknown, except in Python.
		if !python && (c == '(' && last != 'a' && strings.IndexByte(")]\"", last) >= 0 || c == '[' && strings.IndexByte("a)]\"", last) >= 0) {
			return false
		}
		if c != ' ' {
			last = c
		}
		i++
	}
	return strings.TrimSpace(text) != ""
}

// stringLiteral is the length of the string literal that text begins with, 0 if
// it does not end or has an escape.
func stringLiteral(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i + 1
		case '\\', '\n':
			if text[i] == '\n' || i+1 >= len(text) || text[i+1] != 'n' && text[i+1] != 't' {
				return 0
			}
			i++
		}
	}
	return 0
}

// isHarmlessModule reports whether require loads nothing that can act: a package
// description or a module of functions.
func isHarmlessModule(name string) bool {
	return strings.HasSuffix(name, "/package.json") || name == "crypto" || name == "os" || name == "path"
}
