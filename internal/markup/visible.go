package markup

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible replaces everything that could mislead a reader by a visible symbol: control
// characters (except line breaks and tabs), characters that change the direction of
// writing, invisible ones and invalid encoding. It is for text that the user must
// judge, such as a command before it runs.
func Visible(text string) string {
	if plainASCII(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		b.WriteString(picture(r, text[i:], true))
	}
	return b.String()
}

// clean is the milder form for prose: sequences and forced direction become visible,
// marks that scripts need stay.
func clean(text string) string {
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && (r < 0xa0 || override(r) || r == utf8.RuneError) {
			return cleaned(text)
		}
	}
	return text
}

func cleaned(text string) string {
	var b strings.Builder
	for i, r := range text {
		b.WriteString(picture(r, text[i:], false))
	}
	return b.String()
}

func picture(r rune, at string, strict bool) string {
	switch {
	case r == '\n' || r == '\t':
		return string(r)
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	case r < 0x7f:
		return string(r)
	case r == utf8.RuneError && !strings.HasPrefix(at, "\uFFFD"):
		return fmt.Sprintf("<%02x>", at[0])
	case r < 0xa0, override(r):
		return fmt.Sprintf("<U+%04X>", r)
	case strict && hidden(r):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(r)
}

// override reports whether a character forces text against its direction.
func override(r rune) bool { return r == 0x202d || r == 0x202e }

// hidden reports whether a character is invisible or changes the direction of text.
func hidden(r rune) bool {
	if r == 0x200d || r >= 0xfe00 && r <= 0xfe0f {
		return false // these join emoji or select variants
	}
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != ' ' || r == 0x2800
}

// OneLine folds blanks and line breaks into single spaces and makes hidden
// characters visible, for a text from outside within a line.
func OneLine(text string) string {
	return Visible(strings.Join(strings.Fields(text), " "))
}
