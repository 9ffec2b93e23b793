package lex

import (
	"strings"
)

// Marks in the text of a word for parts that are only known at run time. They
// cannot occur in a shell word: control characters of a line are replaced before
// it is judged. A mark is a zero byte and what more is known about the part.
const (
	Unknown      = "\x00"     // anything, or nothing
	FromDownload = "\x00\x02" // the output of a download
	FromSearch   = "\x00\x03" // process ids from a search
	Filled       = "\x00\x04" // anything, but not nothing
	Several      = "\x00\x05" // any number of words: an expansion without quotes
	Deferred     = "\x00\x06" // a parameter of a function that is only defined here
	FromSecret   = "\x00\x07" // the content of a secret file, or credentials
	FromInput    = "\x00\x08" // a line of the input of a loop
	FromVital    = "\x00\x0e" // a path below the root, a system folder or a home
	Split        = "\x01"     // where an unquoted expansion is split

	Marks = "\x00\x02\x03\x04\x05\x06\x07\x08\x0e"
)

// Dynamic reports whether a part of a text is only known at run time.
func Dynamic(text string) bool { return strings.Contains(text, Unknown) }

// AsPattern returns a text as a pattern in which any name may stand for a part
// that is unknown.
func AsPattern(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch {
		case strings.IndexByte(Marks, text[i]) < 0:
			b.WriteByte(text[i])
		case text[i] == Unknown[0]:
			b.WriteByte('*')
		}
	}
	return b.String()
}

// WithoutUnknown returns a text in which every part that may be empty is. A part
// that is not empty is written as a name that matches no folder.
func WithoutUnknown(p string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(Marks, r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(p, Filled, "\x7f"))
}

// WithUnknown returns words in which a zero byte is all that is known about a part.
func WithUnknown(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !Dynamic(w) {
			continue
		}
		out[i] = strings.Map(func(r rune) rune {
			if r != rune(Unknown[0]) && strings.ContainsRune(Marks, r) {
				return -1
			}
			return r
		}, w)
	}
	return out
}

// UnknownName is a variable that is always unknown.
const UnknownName = "UNKNOWN"

// ScriptText is expanded text in a form that can be parsed again.
func ScriptText(text string) string {
	if !Dynamic(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(Marks, text[i]) < 0 {
			b.WriteByte(text[i])
			continue
		}
		if text[i] == Unknown[0] {
			b.WriteString("${" + UnknownName + "}")
		}
	}
	return b.String()
}

// Quoted writes words, each after a space, so that a shell reads them as they
// are.
func Quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" '")
		for i := range len(w) {
			switch {
			case w[i] == '\'':
				b.WriteString(`'\''`)
			case w[i] == Unknown[0]:
				b.WriteString(`'"${` + UnknownName + `}"'`)
			case strings.IndexByte(Marks, w[i]) < 0:
				b.WriteByte(w[i])
			}
		}
		b.WriteByte('\'')
	}
	return b.String()
}

// Program returns the name of a program in lower case, without its folder.
func Program(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if plain, ok := strings.CutPrefix(name, "g"); ok && Within(gnuNames, plain) {
		return plain
	}
	return name
}

// gnuNames are the GNU programs that macOS and the BSDs call with a g before the
// name.
const gnuNames = "cat chgrp chmod chown cp dd env find head install kill ln ls mkdir mv nice nohup rm rmdir sed shred split stat stdbuf tail tar tee timeout touch truncate unlink xargs"

// Within reports whether a word is one of a list that is separated by spaces.
func Within(list, word string) bool {
	if word == "" || strings.IndexByte(word, ' ') >= 0 {
		return false
	}
	for from := 0; ; {
		at := strings.Index(list[from:], word)
		if at < 0 {
			return false
		}
		at += from
		if from = at + len(word); (at == 0 || list[at-1] == ' ') && (from == len(list) || list[from] == ' ') {
			return true
		}
	}
}

// IsName reports whether a word can be the name of a program.
func IsName(w string) bool {
	if w == "" || len(w) > 64 {
		return false
	}
	for i := range len(w) {
		c := w[i]
		if !IsLetter(c) && (c < '0' || c > '9') && strings.IndexByte("./+-", c) < 0 {
			return false
		}
	}
	return IsLetter(w[0]) || w[0] == '.' || w[0] == '/'
}

// IsAssignment reports whether a word has the form NAME=value.
func IsAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(strings.ToUpper(name), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// Mentions reports whether a text has one of the words. It is a cheap check
// before an expression.
func Mentions(text, words string) bool {
	for word := range strings.FieldsSeq(words) {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
