package reference

import (
	"strconv"
	"strings"
	"unicode"
)

// Kind is the kind of thing a reference points at.
type Kind string

// The kinds of references.
const (
	File    Kind = "file"
	Folder  Kind = "folder"
	Diff    Kind = "diff"
	Staged  Kind = "staged"
	Commits Kind = "git"
	URL     Kind = "url"
	Session Kind = "session"
)

// Reference is one thing that a message points at.
type Reference struct {
	Kind   Kind
	Text   string // as it was written
	Target string // path, address or session
	// From and To are lines of a file, 0 for no bound; From is the number of
	// commits of @git:N.
	From, To int
}

// maxCommits bounds @git:N.
const maxCommits = 10

// Find lists the references of a text in order, each once. An @ inside a word,
// as in an e-mail address, is not a reference, and neither is a name such as
// @alice.
func Find(text string) []Reference { return FindIn(text, nil) }

// FindIn is Find with paths after a bare @, as in @main.go:10-20. look returns
// File or Folder for a path that exists, else "". What does not exist is not a
// reference, unless it begins with ./, ../ or ~/ and so cannot be a name.
func FindIn(text string, look func(path string) Kind) []Reference {
	var out []Reference
	seen := map[string]bool{}
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !opens(text[:i]) {
			continue
		}
		r, n := one(text[i:])
		if look != nil {
			if p, used := barePath(text[i:], look); used > n {
				r, n = p, used
			}
		}
		if n == 0 {
			continue
		}
		if !seen[r.Text] {
			seen[r.Text] = true
			out = append(out, r)
		}
		i += n - 1
	}
	return out
}

// opens reports whether a reference may begin after this text.
func opens(before string) bool {
	last := before[len(before)-1]
	return unicode.IsSpace(rune(last)) || strings.IndexByte("([{\"'`,;:", last) >= 0
}

// one reads the reference that text begins with and returns its length.
func one(text string) (Reference, int) {
	for _, k := range []Kind{Diff, Staged} {
		if rest, ok := strings.CutPrefix(text[1:], string(k)); ok && !continues(rest) {
			n := 1 + len(k)
			return Reference{Kind: k, Text: text[:n]}, n
		}
	}
	for _, k := range []Kind{File, Folder, Commits, URL, Session} {
		rest, ok := strings.CutPrefix(text[1:], string(k)+":")
		if !ok {
			continue
		}
		target, used := target(rest, k)
		r := Reference{Kind: k, Target: target, Text: text[:1+len(k)+1+used]}
		if target == "" || !r.valid() {
			return Reference{}, 0
		}
		return r, len(r.Text)
	}
	return Reference{}, 0
}

// continues reports whether a word goes on, so that @different is not @diff.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '_' || c == '-' || c == ':' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// closing is the punctuation that may follow a reference.
const closing = ".,;:!?)]}\"'`>"

// target reads the text after the colon: a quoted text, or everything up to the
// next whitespace without the punctuation that ends the sentence.
func target(rest string, k Kind) (string, int) {
	if rest != "" && (rest[0] == '"' || rest[0] == '\'' || rest[0] == '`') {
		if end := strings.IndexByte(rest[1:], rest[0]); end > 0 {
			used := end + 2
			return rest[1:end+1] + lines(rest[used:]), used + len(lines(rest[used:]))
		}
		return "", 0
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	word := strings.TrimRight(rest[:end], closing)
	for k == URL && len(word) < end && rest[len(word)] == ')' && strings.Count(word, "(") > strings.Count(word, ")") {
		word = rest[:len(word)+1] // a bracket that belongs to the address
	}
	return word, len(word)
}

// lines returns the line range directly after a quoted path.
func lines(rest string) string {
	if rest == "" || rest[0] != ':' && rest[0] != '#' {
		return ""
	}
	end := 1
	for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '-' || rest[end] == 'L') {
		end++
	}
	if end == 1 {
		return ""
	}
	return rest[:end]
}

// valid checks the target and moves the line range of a path to From and To. It
// reports whether r is a reference.
func (r *Reference) valid() bool {
	switch r.Kind {
	case Commits:
		n, err := strconv.Atoi(r.Target)
		r.From = min(n, maxCommits)
		return err == nil && n >= 1
	case URL:
		return strings.HasPrefix(r.Target, "http://") || strings.HasPrefix(r.Target, "https://")
	case File:
		for _, sign := range []string{"#L", ":"} {
			i := strings.LastIndex(r.Target, sign)
			if i <= 0 {
				continue
			}
			from, to, ok := span(r.Target[i+len(sign):])
			if ok {
				r.Target, r.From, r.To = r.Target[:i], from, to
				break
			}
		}
	}
	return true
}

// span reads 10, 10-25 or 10-L25.
func span(text string) (from, to int, ok bool) {
	a, b, two := strings.Cut(text, "-")
	from, err := strconv.Atoi(a)
	if err != nil || from < 1 {
		return 0, 0, false
	}
	if !two {
		return from, from, true
	}
	to, err = strconv.Atoi(strings.TrimPrefix(b, "L"))
	if err != nil || to < from {
		return 0, 0, false
	}
	return from, to, true
}
