package text

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible spells out the characters that could make a text look different on a
// screen: control characters, invisible ones, blanks that no shell takes for one
// and those that change the direction of writing. Line breaks and tabs stay.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if r == ' ' || r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) && r != 0x2800 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "<U+%04X>", r)
	}
	return b.String()
}

// VisibleName is Visible for what has one line, such as a path, whose characters a program
// may have chosen: line breaks and blanks in a row are spelled out as well.
func VisibleName(text string) string {
	text = Visible(text)
	var b strings.Builder
	for i, r := range text {
		if r == '\n' || r == '\t' || r == ' ' && strings.HasPrefix(text[i+1:], " ") {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Plain removes what people do not see and models may read: characters of the block of tags, and
// control characters other than line breaks and tabs. What is no UTF-8 becomes U+FFFD.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE007F || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
