package lex

import (
	"strings"
)

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
	for list != "" {
		var next string
		next, list, _ = strings.Cut(list, " ")
		if next == word {
			return word != ""
		}
	}
	return false
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
