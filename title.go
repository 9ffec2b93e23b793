package hermes

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is the maximum length of a session's title, in runes.
const MaxTitle = 100

// CleanTitle removes control and invisible characters (zero width, text
// direction) from a title and folds blanks. The result may be empty, which
// means no title. A title longer than MaxTitle is an error, worded for the
// user.
func CleanTitle(title string) (string, error) {
	title = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case Invisible(r):
			return -1
		}
		return r
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	if n := utf8.RuneCountInString(title); n > MaxTitle {
		return "", fmt.Errorf("the title has %d characters; use at most %d", n, MaxTitle)
	}
	return title, nil
}

// Invisible reports whether CleanTitle removes a character that is no blank:
// control and format characters, fillers and selectors that show nothing, and
// what replaces bytes that are no text.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == unicode.ReplacementChar || r == '\u2800'
}

// SplitTitle splits a numbered title, "name #3", into its name and number. A
// title without a number has number 1.
func SplitTitle(title string) (name string, n int) {
	i := strings.LastIndex(title, " #")
	if i <= 0 {
		return title, 1
	}
	digits := title[i+2:]
	n, err := strconv.Atoi(digits)
	if err != nil || n < 2 || digits != strconv.Itoa(n) {
		return title, 1
	}
	return title[:i], n
}

// NextTitle returns the title with the next number: "name #2" after "name". A
// name that gets too long with its number is cut.
func NextTitle(title string) string {
	if title == "" {
		return ""
	}
	name, n := SplitTitle(title)
	suffix := " #" + strconv.Itoa(n+1)
	runes := []rune(name)
	if most := MaxTitle - len(suffix); len(runes) > most {
		name = strings.TrimSpace(string(runes[:most]))
	}
	return name + suffix
}
