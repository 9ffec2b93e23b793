package policy

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Injection looks for text that tries to give a model orders or to steal
// secrets, in project files, memory entries and prompts of jobs. It returns the
// name of the first matching pattern, in the order of the table, or "". It reads
// the text as a model does, whatever it looks like on a screen, and also what is
// encoded in it. A phrase that is quoted where the text speaks about such attacks
// is no attack. The patterns find the usual tricks; they are not a security
// boundary.
func Injection(text string) string {
	name := order(text)
	if name != "" && order(withoutMentions(text)) == "" {
		name = ""
	}
	if name == "" {
		name = encoded(text)
	}
	if name == "" && hasInvisible(text) {
		name = "invisible_unicode"
	}
	return name
}

// order returns the first pattern that a text matches.
func order(text string) string {
	forms := []string{Fold(text)}
	if plain := undisguise(forms[0]); plain != forms[0] {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		for _, table := range [][]injection{injections, againstUser} {
			for _, p := range table {
				if p.found(form) && (!p.shown || p.found(Fold(code().ReplaceAllString(text, " ")))) {
					return p.name
				}
			}
		}
	}
	return ""
}

// encoded looks for orders in base64.
func encoded(text string) string {
	const least = 24 // characters of a piece that may be a sentence
	var all strings.Builder
	for from := 0; from < len(text); {
		end := from
		for end < len(text) && base64Byte(text[end]) {
			end++
		}
		if end-from >= least {
			if plain := decoded(text[from:end]); plain != "" {
				all.WriteString(plain + "\n\n")
			}
		}
		from = end + 1
	}
	if all.Len() == 0 {
		return ""
	}
	return order(all.String())
}

func base64Byte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// decoded returns what a piece of base64 means, or "" if that is no text.
func decoded(piece string) string {
	piece = strings.NewReplacer("-", "+", "_", "/").Replace(piece)
	raw, err := base64.RawStdEncoding.DecodeString(piece[:len(piece)-len(piece)%4])
	if err != nil || !utf8.Valid(raw) {
		return ""
	}
	return string(raw)
}

// injection is one pattern, over folded text.
type injection struct {
	name string
	// stem lists substrings. The expression is tried only if one occurs; most
	// text has none.
	stem   []string
	expr   func() *regexp.Regexp
	unless func() *regexp.Regexp // matches to ignore; nil for none
	shown  bool                  // finds what a page hides, which it shows inside code
}

func (p injection) found(low string) bool {
	for at := 0; at < len(low); {
		next := p.next(low, at)
		if next < 0 {
			return false
		}
		// The expressions are slow, so they read only the text around a stem.
		const reach = 600
		from, to := max(at-reach, next-reach, 0), next+reach
		for to < len(low) {
			more := p.next(low[:min(len(low), to+reach)], to)
			if more < 0 {
				break
			}
			to = more + reach
		}
		to = min(to, len(low))
		if p.in(low[from:to]) {
			return true
		}
		at = to
	}
	return false
}

// next is the position of the first stem from at on, or -1.
func (p injection) next(low string, at int) int {
	first := -1
	for _, s := range p.stem {
		n := strings.Index(low[at:], s)
		if n >= 0 && (first < 0 || at+n < first) {
			first = at + n
		}
	}
	return first
}

func (p injection) in(part string) bool {
	if p.unless == nil {
		return p.expr().MatchString(part)
	}
	for _, at := range p.expr().FindAllStringIndex(part, -1) {
		if !p.unless().MatchString(part[at[0]:min(len(part), at[1]+24)]) {
			return true
		}
	}
	return false
}

// hasInvisible reports whether a text has characters that users do not see but
// models read. It allows a byte order mark at the start, and joiners in emoji
// and in scripts that need them.
func hasInvisible(text string) bool {
	var before rune
	for i, r := range text {
		switch {
		case r < 0x80:
		case r == 0xfeff && i == 0:
		case r == 0x200d && (before >= 0x1f000 || before == 0xfe0f || before >= 0x2600 && before < 0x2800):
		case (r == 0x200c || r == 0x200d) && unicode.In(before, joining...):
		case (r == 0x200e || r == 0x200f) && hasRightToLeft(text):
		case unseen(r):
			return true
		}
		before = r
	}
	return false
}

var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Gujarati, unicode.Gurmukhi, unicode.Oriya, unicode.Sinhala, unicode.Khmer, unicode.Mongolian,
}

func hasRightToLeft(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	}) >= 0
}

func unseen(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff, r == 0x180e, r == 0x3164, r == 0x115f, r == 0x1160:
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags: text that no screen shows
		return true
	}
	return false
}
