package markup

import "strings"

// The colours of code, deliberately few.
const (
	colorKeyword = Magenta
	colorText    = Green
	colorComment = Gray
	colorNumber  = Cyan
	colorName    = Blue
	colorType    = Yellow
)

// highlighter colours code line by line. Between lines it keeps only an open comment
// or string, so that code can be shown while it arrives and the cost is linear.
type highlighter struct {
	lang  *language
	o     Options
	until string // what ends the open comment or string
	style Style  // and its style
}

// newHighlighter takes the language name of a code fence; with an unknown one, code
// stays plain.
func newHighlighter(name string, o Options) *highlighter {
	return &highlighter{lang: languageOf(name), o: o}
}

// line returns one line of code, indented by two blanks like all code.
func (h *highlighter) line(text string) []span {
	text = clean(expand(text))
	out := []span{{"  ", Style{}}}
	switch {
	case text == "":
		return nil
	case h.lang == nil || h.o.Plain || len(text) > 4<<10:
		return append(out, span{text, h.o.Style})
	case h.lang.whole != nil:
		return append(out, span{text, h.o.Style.with(h.lang.whole(text), 0)})
	}
	return append(out, h.tokens(text)...)
}

func (h *highlighter) tokens(text string) []span {
	var out []span
	put := func(s string, style Style) {
		if s != "" {
			out = append(out, span{s, style})
		}
	}
	base := h.o.Style
	for pos := 0; pos < len(text); {
		rest := text[pos:]
		if h.until != "" {
			n := endOf(rest, h.until)
			put(rest[:n], h.style)
			if n >= len(h.until) && strings.HasSuffix(rest[:n], h.until) {
				h.until = ""
			}
			pos += n
			continue
		}
		n, style := h.next(rest, text[:pos], base)
		put(rest[:n], style)
		pos += n
	}
	return out
}

// next measures and styles the token at the beginning of rest. before is the line up
// to it.
func (h *highlighter) next(rest, before string, base Style) (int, Style) {
	l := h.lang
	for _, c := range l.comments {
		if strings.HasPrefix(rest, c) && (c != "#" || before == "" || strings.HasSuffix(before, " ")) {
			return len(rest), base.with(colorComment, 0)
		}
	}
	for _, p := range l.spans {
		if strings.HasPrefix(rest, p.open) {
			h.until, h.style = p.close, base.with(p.color, 0)
			return len(p.open), h.style
		}
	}
	c := rest[0]
	switch {
	case strings.IndexByte(l.quotes, c) >= 0:
		n := quoted(rest)
		if l.keys && strings.HasPrefix(strings.TrimLeft(rest[n:], " "), ":") {
			return n, base.with(colorName, 0)
		}
		return n, base.with(colorText, 0)
	case c >= '0' && c <= '9':
		return number(rest), base.with(colorNumber, 0)
	case c == '$' && l.dollar:
		n := 1
		if strings.HasPrefix(rest[1:], "{") {
			n++
		}
		return n + len(name(rest[n:])), base.with(colorNumber, 0)
	case wordByte(c):
		return h.word(rest, before, base)
	case c == '<' && l.tags:
		n := 1
		if strings.HasPrefix(rest[1:], "/") {
			n++
		}
		return n + len(name(rest[n:])), base.with(colorKeyword, 0)
	}
	n := 1
	for n < len(rest) && rest[n]&0xc0 == 0x80 {
		n++
	}
	return n, base
}

func (h *highlighter) word(rest, before string, base Style) (int, Style) {
	l := h.lang
	word := name(rest)
	after := rest[len(word):]
	key := word
	if l.folded {
		key = strings.ToLower(word)
	}
	switch {
	case l.keys && strings.TrimSpace(strings.TrimLeft(before, "- ")) == "" && keyEnd(after):
		return len(word), base.with(colorName, 0)
	case l.words[key] != 0:
		return len(word), base.with(l.words[key], 0)
	case strings.HasPrefix(after, "("):
		return len(word), base.with(colorName, 0)
	case l.types && word[0] >= 'A' && word[0] <= 'Z' && len(word) > 1:
		return len(word), base.with(colorType, 0)
	}
	return len(word), base
}

func keyEnd(after string) bool {
	after = strings.TrimLeft(after, " ")
	return strings.HasPrefix(after, ":") || strings.HasPrefix(after, "=")
}

func endOf(text, until string) int {
	if until == "" {
		return len(text)
	}
	if i := strings.Index(text, until); i >= 0 {
		return i + len(until)
	}
	return len(text)
}

// quoted returns the length of the string that begins with a quotation mark.
func quoted(rest string) int {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			return i + 1
		}
	}
	return len(rest)
}

func number(rest string) int {
	n := 0
	for n < len(rest) && (wordByte(rest[n]) || rest[n] == '.' && n+1 < len(rest) && rest[n+1] >= '0' && rest[n+1] <= '9') {
		n++
	}
	return n
}

func name(rest string) string {
	n := 0
	for n < len(rest) && wordByte(rest[n]) {
		n++
	}
	return rest[:n]
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || letter(c) || c >= 0x80
}

// expand replaces tabs by blanks up to the next multiple of four.
func expand(text string) string {
	if strings.IndexByte(text, '\t') < 0 {
		return text
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(text, "\t") {
		if i > 0 {
			fill := 4 - column%4
			b.WriteString(strings.Repeat(" ", fill))
			column += fill
		}
		b.WriteString(part)
		column += Width(part)
	}
	return b.String()
}
