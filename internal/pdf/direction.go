package pdf

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plainForms replaces ligatures and letters in the shape that they have within a word by the letters.
func plainForms(line string) string {
	shaped := func(r rune) bool { return r >= 0xFB00 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC }
	if !strings.ContainsFunc(line, shaped) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if !shaped(r) {
			b.WriteRune(r)
			continue
		}
		letters := []rune(norm.NFKC.String(string(r)))
		if r >= 0xFB1D {
			slices.Reverse(letters) // the line is still as it is seen
		}
		b.WriteString(string(letters))
	}
	return b.String()
}

func rtl(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
}

// rightToLeft reports whether most letters of a text are written from the right to the left.
func rightToLeft(text string) bool {
	n := 0
	for _, r := range text {
		switch {
		case r < 0x80 && !unicode.IsLetter(r):
		case rtl(r):
			n++
		case unicode.IsLetter(r):
			n--
		}
	}
	return n > 0
}

// logical puts a line that is written from the right to the left into the order in which it is read.
// Files draw what is seen, from the left to the right.
func logical(line string) string {
	if !rightToLeft(line) {
		return line
	}
	runes := []rune(line)
	slices.Reverse(runes)
	other := func(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) && !rtl(r) }
	for i := 0; i < len(runes); {
		if !other(runes[i]) {
			if mirrored := strings.IndexRune("()[]{}<>«»", runes[i]); mirrored >= 0 {
				runes[i] = []rune(")(][}{><»«")[runesBefore("()[]{}<>«»", mirrored)]
			}
			i++
			continue
		}
		end := i + 1 // of words and numbers that are read from the left
		for j := end; j < len(runes) && !rtl(runes[j]); j++ {
			if other(runes[j]) {
				end = j + 1
			}
		}
		slices.Reverse(runes[i:end])
		i = end
	}
	return string(runes)
}

func runesBefore(s string, at int) int { return len([]rune(s[:at])) }
