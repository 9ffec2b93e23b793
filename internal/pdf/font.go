package pdf

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"hermes/internal/order"
)

// font tells what the codes of a string mean and how wide they are.
type font struct {
	from      any  // its entry in the resources
	composite bool // codes have two bytes, unless the map says otherwise
	unicode   *cmap
	utf16     bool // codes are UTF-16
	codes     [256]string
	widths    map[int]float64 // in thousandths of the size
	width     float64         // of all others
	guess     bool            // there are no widths: guess them by the letter
}

func (f *file) font(v any) *font {
	d := f.dict(v)
	t := &font{widths: map[int]float64{}, width: 500}
	if s, ok := f.resolve(d["ToUnicode"]).(*stream); ok {
		t.unicode = f.cmap(s)
	}
	if d["Subtype"] == name("Type0") {
		t.composite = true
		if e, ok := f.resolve(d["Encoding"]).(name); ok {
			t.utf16 = strings.Contains(string(e), "UCS2") || strings.Contains(string(e), "UTF16")
		}
		below := f.list(d["DescendantFonts"])
		if len(below) > 0 {
			f.compositeWidths(t, f.dict(below[0]))
		}
		return t
	}
	f.encoding(t, d)
	widths := f.list(d["Widths"])
	first := whole(f.resolve(d["FirstChar"]))
	for i, w := range widths[:min(len(widths), 256)] {
		if n, ok := f.resolve(w).(float64); ok && f.tick() {
			t.widths[first+i] = n
		}
	}
	if d["Subtype"] == name("Type3") {
		if m := f.list(d["FontMatrix"]); len(m) == 6 {
			scale, _ := f.resolve(m[0]).(float64)
			for code := range t.widths {
				t.widths[code] *= scale * 1000
			}
		}
	}
	t.guess = len(widths) == 0
	if base, _ := f.resolve(d["BaseFont"]).(name); t.guess && strings.Contains(string(base), "Courier") {
		t.guess, t.width = false, 600
	}
	return t
}

// maxWidths bounds the widths of a font. Codes have two bytes.
const maxWidths = 1 << 16

func (f *file) compositeWidths(t *font, d dict) {
	t.width = 1000
	if w, ok := f.resolve(d["DW"]).(float64); ok {
		t.width = w
	}
	list := f.list(d["W"])
	for i := 0; i+1 < len(list) && f.tick() && !f.over(len(t.widths) >= maxWidths); {
		first := whole(f.resolve(list[i]))
		switch next := f.resolve(list[i+1]).(type) {
		case []any:
			for j, w := range next {
				if f.over(len(t.widths) >= maxWidths) || !f.tick() {
					return
				}
				n, _ := f.resolve(w).(float64)
				t.widths[first+j] = n
			}
			i += 2
		case float64:
			if i+2 >= len(list) {
				return
			}
			n, _ := f.resolve(list[i+2]).(float64)
			for code := first; code <= min(whole(next), first+maxWidths) && f.tick() && len(t.widths) < maxWidths; code++ {
				t.widths[code] = n
			}
			i += 3
		default:
			return
		}
	}
}

// encoding fills in what the codes of a simple font mean.
func (f *file) encoding(t *font, d dict) {
	e := f.resolve(d["Encoding"])
	base, _ := e.(name)
	details := f.dict(e)
	if details != nil {
		base, _ = f.resolve(details["BaseEncoding"]).(name)
	}
	for code := range t.codes {
		r := charmap.Windows1252.DecodeByte(byte(code))
		switch {
		case base == "MacRomanEncoding":
			r = charmap.Macintosh.DecodeByte(byte(code))
		case base == "" || base == "StandardEncoding":
			if s := standard[byte(code)]; s != 0 {
				r = s
			}
		}
		if code >= 32 && r != utf8.RuneError {
			t.codes[code] = string(r)
		}
	}
	code := 0
	for _, v := range f.list(details["Differences"]) {
		if !f.spend(10) { // looking up a name
			return
		}
		switch v := f.resolve(v).(type) {
		case float64:
			code = whole(v)
		case name:
			if code >= 0 && code < 256 {
				t.codes[code] = glyph(string(v))
			}
			code++
		}
	}
}

// standard is where the standard encoding differs from Windows-1252.
var standard = map[byte]rune{
	0x27: '’', 0x60: '‘', 0xA4: '⁄', 0xA6: 'ƒ', 0xA8: '¤', 0xA9: '\'', 0xAA: '“', 0xAC: '‹', 0xAD: '›', 0xAE: 'ﬁ', 0xAF: 'ﬂ', 0xB1: '–', 0xB2: '†', 0xB3: '‡',
	0xB4: '·', 0xB7: '•', 0xB8: '‚', 0xB9: '„', 0xBA: '”', 0xBC: '…', 0xBD: '‰', 0xD0: '—', 0xE1: 'Æ', 0xE3: 'ª', 0xE8: 'Ł', 0xE9: 'Ø', 0xEA: 'Œ', 0xEB: 'º',
	0xF1: 'æ', 0xF5: 'ı', 0xF8: 'ł', 0xF9: 'ø', 0xFA: 'œ', 0xFB: 'ß',
}

// glyphs are names of glyphs that are neither one letter nor a letter with an accent.
const glyphs = " space= exclam=! quotedbl=\" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' parenleft=( parenright=) asterisk=* plus=+ comma=, hyphen=- minus=− period=. slash=/ " +
	"zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=: semicolon=; less=< equal== greater=> question=? at=@ bracketleft=[ backslash=\\ bracketright=] " +
	"asciicircum=^ underscore=_ grave=` braceleft={ bar=| braceright=} asciitilde=~ quoteleft=‘ quoteright=’ quotedblleft=“ quotedblright=” quotesinglbase=‚ quotedblbase=„ " +
	"guillemotleft=« guillemotright=» guilsinglleft=‹ guilsinglright=› endash=– emdash=— bullet=• ellipsis=… fi=fi fl=fl ff=ff ffi=ffi ffl=ffl germandbls=ß ae=æ AE=Æ oe=œ OE=Œ " +
	"oslash=ø Oslash=Ø lslash=ł Lslash=Ł dotlessi=ı eth=ð Eth=Ð thorn=þ Thorn=Þ dagger=† daggerdbl=‡ section=§ paragraph=¶ copyright=© registered=® trademark=™ degree=° " +
	"plusminus=± multiply=× divide=÷ sterling=£ yen=¥ cent=¢ Euro=€ currency=¤ florin=ƒ mu=µ periodcentered=· onehalf=½ onequarter=¼ threequarters=¾ exclamdown=¡ questiondown=¿ " +
	"ordfeminine=ª ordmasculine=º logicalnot=¬ brokenbar=¦ perthousand=‰ fraction=⁄ infinity=∞ lessequal=≤ greaterequal=≥ notequal=≠ approxequal=≈ summation=∑ integral=∫ radical=√ " +
	"partialdiff=∂ Delta=∆ Omega=Ω alpha=α beta=β gamma=γ delta=δ epsilon=ε lambda=λ pi=π sigma=σ theta=θ phi=φ omega=ω arrowright=→ arrowleft=← nbspace= onesuperior=¹ twosuperior=² threesuperior=³ "

// accents are the ends of the names of letters with an accent.
const accents = " grave=\u0300 acute=\u0301 circumflex=\u0302 tilde=\u0303 macron=\u0304 breve=\u0306 dotaccent=\u0307 dieresis=\u0308 ring=\u030A hungarumlaut=\u030B caron=\u030C cedilla=\u0327 ogonek=\u0328 "

func lookUp(table, key string) (string, bool) {
	i := strings.Index(table, " "+key+"=")
	if i < 0 || key == "" {
		return "", false
	}
	rest := table[i+len(key)+2:]
	value, _, _ := strings.Cut(rest, " ")
	if value == "" {
		value = " "
	}
	return value, true
}

// glyph returns the text of a glyph by its name, or "".
func glyph(n string) string {
	n, _, _ = strings.Cut(n, ".")
	if parts := strings.Split(n, "_"); len(parts) > 1 && len(parts) <= 8 { // a ligature
		out := ""
		for _, part := range parts {
			out += glyph(part)
		}
		return out
	}
	if len(n) == 1 {
		return n
	}
	if v, ok := lookUp(glyphs, n); ok {
		return v
	}
	if len(n) > 1 {
		if mark, ok := lookUp(accents, n[1:]); ok {
			return norm.NFC.String(n[:1] + mark)
		}
	}
	for _, prefix := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(n, prefix); ok && len(hex) >= 4 && len(hex) <= 6 {
			if r, err := strconv.ParseUint(hex, 16, 32); err == nil && utf8.ValidRune(rune(r)) {
				return string(rune(r))
			}
		}
	}
	return ""
}

// each calls show for the codes of a string until it returns false: with their text, width, and whether the
// code is one byte of a space, to which the space between words is added.
func (t *font) each(s text, show func(text string, width float64, space bool) bool) {
	for i := 0; i < len(s); {
		code, n := int(s[i]), 1
		if t.composite {
			n = 2
			if t.unicode != nil {
				n = t.unicode.length(s[i:])
			}
			code = 0
			for j := range n {
				if i+j < len(s) {
					code = code<<8 | int(s[i+j])
				}
			}
		}
		i += n
		out, known := "", false
		if t.unicode != nil {
			out, known = t.unicode.text(code)
		}
		switch {
		case known:
		case t.utf16:
			out = string(rune(code))
		case !t.composite:
			out = t.codes[code]
		}
		width, ok := t.widths[code]
		if !ok {
			width = t.width
			if t.guess {
				width = guessed(out)
			}
		}
		if !show(out, width, n == 1 && code == ' ') {
			return
		}
	}
}

// guessed is about the width of a letter in a common font.
func guessed(s string) float64 {
	if s == "" {
		return 0
	}
	switch r := s[0]; {
	case strings.IndexByte(" iljtfI.,:;'|!()[]", r) >= 0:
		return 278
	case strings.IndexByte("mwMW@%", r) >= 0:
		return 833
	case 'A' <= r && r <= 'Z':
		return 680
	}
	return 540
}

// cmap is what the codes of a font mean in Unicode.
type cmap struct {
	one    map[int]string
	ranges []span
	bytes  []lengths // how long codes are, by their first byte
}

type span struct {
	from, to int
	text     string // of the first; the last character counts up
}

type lengths struct {
	from, to byte
	n        int
}

// cmap reads a map of codes to Unicode.
func (f *file) cmap(s *stream) *cmap {
	c := &cmap{one: map[int]string{}}
	l := f.lexer(f.decode(s), 0, true)
	var args []any
	for f.tick() {
		v, ok := l.next()
		if !ok {
			break
		}
		op, isOp := v.(operator)
		if !isOp {
			if len(args) < 1000 {
				args = append(args, v)
			}
			continue
		}
		switch op {
		case "endcodespacerange":
			for i := 0; i+1 < len(args); i += 2 {
				a, ok1 := args[i].(text)
				b, ok2 := args[i+1].(text)
				if ok1 && ok2 && len(a) > 0 && len(a) == len(b) && len(a) <= 4 && len(c.bytes) < 100 {
					c.bytes = append(c.bytes, lengths{a[0], b[0], len(a)})
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				a, ok1 := args[i].(text)
				b, ok2 := args[i+1].(text)
				if ok1 && ok2 && len(c.one) < 1<<17 {
					c.one[codeOf(a)] = utf16Text(b)
				}
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				a, ok1 := args[i].(text)
				b, ok2 := args[i+1].(text)
				if !ok1 || !ok2 {
					continue
				}
				switch to := args[i+2].(type) {
				case text:
					if len(c.ranges) < 1<<16 {
						c.ranges = append(c.ranges, span{codeOf(a), codeOf(b), utf16Text(to)})
					}
				case []any:
					for j, v := range to {
						if !f.tick() {
							return c
						}
						if v, ok := v.(text); ok && len(c.one) < 1<<17 {
							c.one[codeOf(a)+j] = utf16Text(v)
						}
					}
				}
			}
		}
		args = args[:0]
	}
	if !f.spend(16 * len(c.ranges)) { // sorting
		return c
	}
	order.By(c.ranges, func(a, b span) int { return a.from - b.from })
	return c
}

func codeOf(s text) int {
	code := 0
	for i := range min(len(s), 4) {
		code = code<<8 | int(s[i])
	}
	return code
}

// maxUnits bounds the text of one code.
const maxUnits = 16

func utf16Text(s text) string {
	var units []uint16
	for i := 0; i+1 < min(len(s), 2*maxUnits); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 {
		units = []uint16{uint16(s[0])}
	}
	return string(utf16.Decode(units))
}

func (c *cmap) length(s text) int {
	for _, b := range c.bytes {
		if s[0] >= b.from && s[0] <= b.to {
			return b.n
		}
	}
	return 2
}

func (c *cmap) text(code int) (string, bool) {
	if s, ok := c.one[code]; ok {
		return s, true
	}
	i, found := slices.BinarySearchFunc(c.ranges, code, func(r span, code int) int { return r.from - code })
	if !found {
		i--
	}
	if i < 0 || code > c.ranges[i].to || c.ranges[i].text == "" {
		return "", false
	}
	r := c.ranges[i]
	last, size := utf8.DecodeLastRuneInString(r.text)
	next := last + rune(code-r.from)
	if !utf8.ValidRune(next) {
		return "", false
	}
	return r.text[:len(r.text)-size] + string(next), true
}
