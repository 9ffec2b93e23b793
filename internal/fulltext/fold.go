package fulltext

import "unicode"

// The base letters of Latin-1 and Extended-A (from U+00C0) and of Extended Additional
// (from U+1E00); a dot marks characters without one.
const (
	latinBase = "aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.yaaaaaaccccccccdd..eeeeeeeeeegggg" +
		"gggghh..iiiiiiiii...jjkk.llllll....nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzz."
	vietBase = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv" +
		"wwwwwwwwwwxxxxyyzzzzzzhtwy......aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......"
)

// foldRune returns a rune as the index stores it: lower case, without accents. It returns
// -1 for a combining accent, which the index omits.
func foldRune(r rune) rune {
	switch {
	case r < 0x80:
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	case r >= 0xc0 && r < 0xc0+rune(len(latinBase)):
		if b := latinBase[r-0xc0]; b != '.' {
			return rune(b)
		}
	case r >= 0x1e00 && r < 0x1e00+rune(len(vietBase)):
		if b := vietBase[r-0x1e00]; b != '.' {
			return rune(b)
		}
	case r >= 0x300 && r < 0x370:
		return -1
	}
	return unicode.ToLower(r)
}

// inWord reports whether the index treats a rune as part of a word.
func inWord(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Co)
}

// unbroken reports whether a rune belongs to a script without blanks between words,
// or with so many suffixes that users search for parts of words (Korean).
func unbroken(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r < 0x0f00: // Thai, Lao
		return r != 0x0e2f && r != 0x0e4f && r != 0x0e5a && r != 0x0e5b
	case r < 0x1000:
		return false
	case r < 0x10a0: // Myanmar; its two punctuation marks separate words
		return r != 0x104a && r != 0x104b
	case r < 0x1780:
		return r >= 0x1100 && r < 0x1200 // Hangul letters
	case r < 0x1800: // Khmer, without its punctuation
		return r < 0x17d4 || r > 0x17da
	case r < 0x3040:
		return r >= 0x3005 && r <= 0x3007
	case r < 0x3400: // Kana, Bopomofo, Hangul letters
		return r < 0x3190 && r != 0x30a0 && r != 0x30fb || r >= 0x31a0 && r < 0x31c0 || r >= 0x31f0 && r < 0x3200
	case r < 0xa000: // Han
		return r < 0x4dc0 || r >= 0x4e00
	case r < 0xac00: // extensions of Myanmar and Hangul
		return r >= 0xa960 && r < 0xa980 || r >= 0xa9e0 && r < 0xaa00 || r >= 0xaa60 && r < 0xaa80
	case r < 0xd800: // Hangul
		return true
	case r < 0x20000:
		return r >= 0xf900 && r < 0xfb00 || r >= 0xff66 && r < 0xffa0
	}
	return r < 0x33480 // Han
}
