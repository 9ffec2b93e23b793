package policy

import (
	"html"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a text in the form that patterns are matched against: lower case,
// without what changes how words look but not how a model reads them. It resolves
// compatibility forms such as full width, drops accents, invisible characters and
// Markdown emphasis, reads HTML entities, makes every blank a plain one, and joins
// words that are broken over lines or spelled letter by letter. Line breaks stay.
func Fold(text string) string {
	if strings.IndexByte(text, '&') >= 0 {
		text = html.UnescapeString(text)
	}
	if !plainASCII(text) {
		text = norm.NFKD.String(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '*' || r == '`' || r == '~' || r == '\u00ad' || r == '\u034f' || unseen(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Mn, r):
		case r == '\u2018' || r == '\u2019' || r == '\u02bc':
			b.WriteByte('\'')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r):
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	out := strings.ReplaceAll(b.String(), "-\n", "")
	return joinLetters(withoutEmphasis(out))
}

func plainASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// withoutEmphasis drops underscores at the edge of a word.
func withoutEmphasis(text string) string {
	if strings.IndexByte(text, '_') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '_' {
			end := i
			for end < len(text) && text[end] == '_' {
				end++
			}
			inside := i > 0 && wordByte(text[i-1]) && end < len(text) && wordByte(text[end])
			if !inside {
				i = end - 1
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}

func wordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 }

// joinLetters joins words that are spelled letter by letter: "i g n o r e".
func joinLetters(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		end := i
		if i == 0 || !wordByte(text[i-1]) {
			end = spelledEnd(text, i)
		}
		if end-i < 2*4-1 {
			out = append(out, text[i])
			i++
			continue
		}
		for ; i < end; i += 2 {
			out = append(out, text[i])
		}
		i = end
	}
	return string(out)
}

// spelledEnd returns the end of a run of single letters that the same blank, dot,
// dash or underscore separates.
func spelledEnd(text string, from int) int {
	end := from
	for end < len(text) && letter(text[end]) {
		if end+1 == len(text) || !wordByte(text[end+1]) {
			end++
		} else {
			break
		}
		if end+1 < len(text) && strings.IndexByte(" .-_", text[end]) >= 0 && (end == from+1 || text[end] == text[from+1]) && letter(text[end+1]) && (end+2 == len(text) || !wordByte(text[end+2])) {
			end++
			continue
		}
		break
	}
	return end
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }

// lookalikes maps letters of other scripts to the Latin ones that they look like.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "һ", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m", "н", "h",
	"о", "o", "р", "p", "ԛ", "q", "ѕ", "s", "т", "t", "у", "y", "ѵ", "v", "ԝ", "w", "х", "x", "г", "r", "п", "n", "и", "u",
	"α", "a", "β", "b", "ϲ", "c", "ε", "e", "η", "n", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "ω", "w",
	"ı", "i", "ɡ", "g", "ɑ", "a", "ⅼ", "l", "ꜱ", "s", "ʀ", "r", "ɴ", "n", "ɪ", "i", "ᴏ", "o", "ᴇ", "e", "ᴜ", "u", "ᴛ", "t", "ᴀ", "a", "ᴘ", "p", "ᴠ", "v", "ᴄ", "c", "ɢ", "g", "ʙ", "b", "ᴅ", "d", "ꜰ", "f", "ғ", "f", "ʜ", "h", "ᴊ", "j", "ᴋ", "k", "ʟ", "l", "ᴍ", "m", "ǫ", "q", "ᴡ", "w", "ʏ", "y", "ᴢ", "z",
	"օ", "o", "ո", "n", "ս", "u", "ց", "g", "ⲟ", "o", "ꓲ", "l", "ł", "l", "ø", "o", "đ", "d",
)

// undisguise replaces letters of other scripts, and digits inside words, by the
// letters that they stand for in a folded text.
func undisguise(folded string) string {
	if !plainASCII(folded) {
		folded = lookalikes.Replace(folded)
	}
	if !strings.ContainsAny(folded, "013457@$!|") {
		return folded
	}
	out := []byte(folded)
	for i := 0; i < len(out); {
		end, letters, other := i, 0, 0
		for end < len(out) {
			if letter(out[end]) {
				letters++
			} else if latin[out[end]] != 0 {
				other++
			} else {
				break
			}
			end++
		}
		if letters > 0 && other > 0 {
			for j := i; j < end; j++ {
				if c := latin[out[j]]; c != 0 {
					out[j] = c
				}
			}
		}
		i = max(end, i+1)
	}
	return string(out)
}

// latin maps the characters that are written in place of letters.
var latin = [256]byte{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', '$': 's', '!': 'i', '|': 'l'}
