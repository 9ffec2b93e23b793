package reference

import (
	"slices"
	"strings"
	"unicode"
)

// maxPath bounds the bytes that are read as one path. A pasted text may have an @
// every few bytes and no blank.
const maxPath = 1024

// barePath reads the path that text begins with after its @, and returns its
// length. It is a reference only if look finds it, or if it is written in a way
// that only paths are.
func barePath(text string, look func(string) Kind) (Reference, int) {
	list := candidates(text[1:])
	for _, c := range list {
		r := Reference{Kind: look(c.path), Target: c.path, Text: text[:1+c.size]}
		if r.Kind != "" && c.lines == "" {
			return r, len(r.Text)
		}
		r.Kind, r.Target = File, c.path+c.lines
		if r.valid() && r.From > 0 && look(r.Target) == File {
			return r, len(r.Text)
		}
	}
	for _, c := range list {
		if onlyAPath(c.path) {
			r := Reference{Kind: File, Target: c.path + c.lines, Text: text[:1+c.size]}
			r.valid()
			return r, len(r.Text)
		}
	}
	return Reference{}, 0
}

// A candidate is a way to read a path in a text.
type candidate struct {
	path  string
	lines string // the range after a quoted path
	size  int    // of the text
}

// candidates lists the ways to read the path that a text begins with: between
// quotes, or up to a blank without the punctuation that follows, or only up to a
// character that paths seldom have.
func candidates(rest string) []candidate {
	if rest == "" {
		return nil
	}
	if strings.IndexByte("\"'`", rest[0]) >= 0 {
		end := strings.IndexAny(rest[1:], rest[:1]+"\n")
		if end < 1 || rest[1+end] != rest[0] || !named(rest[1:1+end]) {
			return nil
		}
		span := lines(rest[end+2:])
		return []candidate{{rest[1 : 1+end], span, end + 2 + len(span)}}
	}
	rest = rest[:min(len(rest), maxPath)]
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	var list []candidate
	word := withoutClosing(rest[:end])
	for range 2 {
		c := candidate{path: word, size: len(word)}
		if named(word) && !slices.Contains(list, c) {
			list = append(list, c)
		}
		if i := strings.IndexFunc(word, func(r rune) bool { return strings.ContainsRune("\"'`<>|,;\u2019", r) }); i >= 0 {
			word = withoutClosing(word[:i])
		}
	}
	return list
}

// withoutClosing drops the punctuation at the end of a word, but not a bracket
// that the word itself opens.
func withoutClosing(word string) string {
	for word != "" {
		last := word[len(word)-1]
		if strings.IndexByte(closing, last) < 0 {
			break
		}
		if i := strings.IndexByte(")]}", last); i >= 0 && strings.Count(word, "([{"[i:i+1]) >= strings.Count(word, string(last)) {
			break
		}
		word = word[:len(word)-1]
	}
	return word
}

// named reports whether a text has a letter or a digit, as names of files do.
func named(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// onlyAPath reports whether a word can be nothing but a path.
func onlyAPath(word string) bool {
	for _, begins := range []string{"./", "../", "~/", `.\`, `..\`, `~\`} {
		if strings.HasPrefix(word, begins) {
			return true
		}
	}
	return false
}
