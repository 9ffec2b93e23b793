// Package tokens estimates how many tokens a text or an image costs, for
// decisions that must be made before a provider has counted: about four
// characters a token, a flat price for an image.
//
// The estimate is rough by intent: vocabularies differ and cost megabytes.
// Where a provider's own count is at hand, anchor on it and estimate only what
// was added since (Anchor). It knows nothing of messages.
package tokens

import "unicode/utf8"

// Image is the flat cost of one picture, in tokens.
const Image = 1500

// charsPerToken holds for text in alphabets.
const charsPerToken = 4

// Text estimates the tokens of s, rounded up; empty text costs nothing. Four
// characters are one token; a character of a script without an alphabet
// (Chinese, Japanese, Korean) is a token of its own, since an estimate four
// times too low would overflow a context window.
func Text(s string) int { return fromQuarters(quarters(s)) }

// Texts estimates several pieces that are sent together.
func Texts(parts ...string) int {
	sum := 0
	for _, p := range parts {
		sum += quarters(p)
	}
	return fromQuarters(sum)
}

// fromQuarters turns quarters of a token into tokens, rounded up.
func fromQuarters(n int) int { return (n + charsPerToken - 1) / charsPerToken }

func quarters(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n++
		if dense(r) {
			n += charsPerToken - 1
		}
	}
	return n
}

// dense reports whether r is of a script in which a character is a word or a
// syllable.
func dense(r rune) bool {
	return r >= 0x2E80 && r <= 0x9FFF || // CJK radicals, kana, ideographs
		r >= 0xAC00 && r <= 0xD7AF || // Hangul
		r >= 0xF900 && r <= 0xFAFF || // compatibility ideographs
		r >= 0x20000 && r <= 0x3FFFF // rare ideographs
}

// Anchor is a provider's own count of a prompt, beside the estimate of the
// same prompt.
type Anchor struct {
	Counted   int // what the provider charged for the prompt, cached or not
	Estimated int // what the estimate said of the same prompt
}

// Now returns the best guess for the prompt that estimates to estimated now:
// the provider's count plus the estimate of what was added since. Without a
// count it is the estimate; a prompt that shrank is scaled.
func (a Anchor) Now(estimated int) int {
	if a.Counted <= 0 || a.Estimated <= 0 {
		return estimated
	}
	if added := estimated - a.Estimated; added >= 0 {
		return a.Counted + added
	}
	return int(int64(a.Counted) * int64(estimated) / int64(a.Estimated))
}
