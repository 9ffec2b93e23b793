// Package tokens estimates how many tokens a text or an image has, for
// decisions before a provider has counted: about four characters a token, a
// fixed number for an image.
//
// The estimate is rough on purpose: tokenizers differ and need megabytes. If a
// provider's count is known, use an [Anchor], which estimates only what was
// added since. The package does not know messages.
package tokens

import "unicode/utf8"

// Image is the estimate for one picture, in tokens.
const Image = 1500

// charsPerToken is for text in alphabetic scripts.
const charsPerToken = 4

// Text estimates the tokens of s, rounded up; empty text has none. Four
// characters count as one token. A character of a script without an alphabet
// (Chinese, Japanese, Korean) counts as one token, because an estimate four
// times too low would overflow a context window.
func Text(s string) int { return fromQuarters(Quarters(s)) }

// Texts estimates the tokens of several pieces that are sent together.
func Texts(parts ...string) int {
	sum := 0
	for _, p := range parts {
		sum += Quarters(p)
	}
	return fromQuarters(sum)
}

// fromQuarters turns quarters of a token into tokens, rounded up.
func fromQuarters(n int) int { return (n + charsPerToken - 1) / charsPerToken }

// Quarters estimates the quarters of a token in s, so that the pieces of a stream
// can be added up without rounding each.
func Quarters(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7] < utf8.RuneSelf {
			n += 8
			i += 8
			continue
		}
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

// dense reports whether r is from a script whose characters are words or
// syllables.
func dense(r rune) bool {
	return r >= 0x2E80 && r <= 0x9FFF || // CJK radicals, kana, ideographs
		r >= 0xAC00 && r <= 0xD7AF || // Hangul
		r >= 0xF900 && r <= 0xFAFF || // compatibility ideographs
		r >= 0x20000 && r <= 0x3FFFF // rare ideographs
}

// Anchor is a provider's count of a prompt and the estimate of the same prompt.
type Anchor struct {
	Counted   int // the provider's count, cached or not
	Estimated int // the estimate
}

// Now returns the best guess for a prompt whose estimate is estimated: the
// provider's count plus the estimate of what was added since. Without a count
// it returns the estimate; for a prompt that shrank it scales the count.
func (a Anchor) Now(estimated int) int {
	if a.Counted <= 0 || a.Estimated <= 0 {
		return estimated
	}
	if added := estimated - a.Estimated; added >= 0 {
		return a.Counted + added
	}
	return int(int64(a.Counted) * int64(estimated) / int64(a.Estimated))
}
