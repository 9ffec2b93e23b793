package fulltext

import (
	"strings"
	"unicode/utf8"
)

// maxWord is the length in bytes of the longest word that is indexed.
const maxWord = 128

// Split splits a text into the part for the index of words, as it is, and the part for
// the index of grams, as grams.
func Split(text string) (words, grams string) {
	if plain(text) {
		return text, ""
	}
	var w, g strings.Builder
	for rest := text; rest != ""; {
		n, kind := run(rest)
		switch {
		case kind == runUnbroken:
			writeGrams(&g, rest[:n])
			w.WriteByte(' ')
		case kind == runWord && n > maxWord:
			w.WriteByte(' ')
		default:
			w.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	if strings.TrimSpace(w.String()) == "" {
		return "", g.String()
	}
	return w.String(), g.String()
}

// plain reports whether a text can be indexed as it is.
func plain(text string) bool {
	long := 0
	for _, r := range text {
		switch {
		case r >= 0x0e00 && unbroken(r):
			return false
		case inWord(r):
			if long += utf8.RuneLen(r); long > maxWord {
				return false
			}
		default:
			long = 0
		}
	}
	return true
}

type runKind int

const (
	runOther runKind = iota
	runWord
	runUnbroken
)

func kindOf(r rune) runKind {
	switch {
	case unbroken(r):
		return runUnbroken
	case inWord(r):
		return runWord
	}
	return runOther
}

// run returns the length and kind of the run of similar characters at the beginning.
func run(text string) (int, runKind) {
	first, n := utf8.DecodeRuneInString(text)
	kind := kindOf(first)
	for n < len(text) && text[n] < utf8.RuneSelf && kind != runUnbroken { // most texts, and much faster
		if inWord(rune(text[n])) != (kind == runWord) {
			return n, kind
		}
		n++
	}
	for i, r := range text[n:] {
		if kindOf(r) != kind {
			return n + i, kind
		}
	}
	return len(text), kind
}

// writeGrams writes each pair of adjacent characters, and the last character by
// itself, so that every character begins a gram.
func writeGrams(b *strings.Builder, run string) {
	for i := 0; i < len(run); {
		_, one := utf8.DecodeRuneInString(run[i:])
		_, two := utf8.DecodeRuneInString(run[i+one:])
		b.WriteString(run[i : i+one+two])
		b.WriteByte(' ')
		i += one
	}
}
