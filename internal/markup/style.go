package markup

import (
	"strconv"
	"strings"
)

// Style is the look of a piece of text: attributes and one of the terminal's sixteen
// colours, so that the user's theme applies. The zero Style is plain text.
type Style struct {
	Color Color
	Attr  Attr
}

// Color is a foreground colour by its SGR number; 0 is the terminal's own.
type Color uint8

// The colours used in this package.
const (
	Red     Color = 31
	Green   Color = 32
	Yellow  Color = 33
	Blue    Color = 34
	Magenta Color = 35
	Cyan    Color = 36
	Gray    Color = 90
)

// Attr is a set of text attributes.
type Attr uint8

// The attributes; they may be joined with |.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Underline
	Reverse
	Strike
)

// span is text in one style.
type span struct {
	text  string
	style Style
}

// with returns the style with added attributes and, if c is set, another colour.
func (s Style) with(c Color, a Attr) Style {
	if c != 0 {
		s.Color = c
	}
	s.Attr |= a
	return s
}

// Paint wraps text in the sequences of a style and a reset. The zero style returns the
// text unchanged. Paint does not clean the text; call [Visible] first.
func (s Style) Paint(text string) string {
	if s == (Style{}) || text == "" {
		return text
	}
	var b strings.Builder
	s.open(&b)
	b.WriteString(text)
	b.WriteString("\x1b[0m")
	return b.String()
}

func (s Style) open(b *strings.Builder) {
	b.WriteString("\x1b[")
	sep := ""
	for i, code := range [...]string{"1", "2", "3", "4", "7", "9"} {
		if s.Attr&(1<<i) == 0 {
			continue
		}
		b.WriteString(sep)
		b.WriteString(code)
		sep = ";"
	}
	if s.Color != 0 {
		b.WriteString(sep)
		b.WriteString(strconv.Itoa(int(s.Color)))
	}
	b.WriteByte('m')
}

// encode writes spans as one line, without blanks at its end.
func (o Options) encode(line []span) string {
	line = trimRight(line)
	var b strings.Builder
	for i := 0; i < len(line); {
		style := o.tone(line[i].style)
		if style != (Style{}) {
			style.open(&b)
		}
		for ; i < len(line) && o.tone(line[i].style) == style; i++ {
			b.WriteString(line[i].text)
		}
		if style != (Style{}) {
			b.WriteString("\x1b[0m")
		}
	}
	return b.String()
}

// tone removes from a style what the options do not allow.
func (o Options) tone(s Style) Style {
	if o.Plain {
		return Style{}
	}
	if o.NoColor {
		s.Color = 0
	}
	return s
}

// trimRight drops blanks at the end; it does not change the given spans.
func trimRight(line []span) []span {
	for len(line) > 0 {
		last := line[len(line)-1]
		text := strings.TrimRight(last.text, " ")
		if text == last.text {
			return line
		}
		line = line[: len(line)-1 : len(line)-1]
		if text != "" {
			return append(line, span{text, last.style})
		}
	}
	return line
}
