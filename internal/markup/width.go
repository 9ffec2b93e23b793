package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns the number of terminal cells that text may take, without escape
// sequences. Terminals disagree about joined emoji; Width returns the larger of the
// two common answers, so that a line that fits here fits anywhere.
func Width(text string) int {
	if plainASCII(text) {
		return len(text)
	}
	width := 0
	for text != "" {
		if text[0] == 0x1b {
			text = text[sequence(text):]
			continue
		}
		n, w := Cluster(text)
		width += w
		text = text[n:]
	}
	return width
}

// Cluster measures the first user-perceived character of a non-empty text: its bytes,
// at least one, and its cells.
func Cluster(text string) (size, width int) {
	c := text[0]
	if c < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		if c < ' ' || c == 0x7f {
			return 1, 0
		}
		return 1, 1
	}
	g := displaywidth.StringGraphemes(text)
	g.Next()
	return len(g.Value()), max(g.Width(), apart(g.Value()))
}

// apart is the width of a character on a terminal that draws joined emoji, flags, skin
// tones and the vowel AM of Thai and Lao one by one.
func apart(cluster string) (width int) {
	for part := range strings.SplitSeq(cluster, joiner) {
		width += displaywidth.String(part)
		for i, r := range part {
			switch {
			case i == 0:
			case displaywidth.Rune(r) == 2:
				width += 2
			case r == 0xe33, r == 0xeb3:
				width++
			}
		}
	}
	return width
}

const joiner = "\u200d"

// Clip cuts text to a width and marks the cut with an ellipsis. Styled text
// keeps its sequences.
func Clip(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(text) <= width || Width(text) <= width {
		return text
	}
	used, end, styled := 0, 0, false
	for end < len(text) {
		if text[end] == 0x1b {
			styled = true
			end += sequence(text[end:])
			continue
		}
		n, w := Cluster(text[end:])
		if used+w > width-1 {
			break
		}
		used += w
		end += n
	}
	if styled {
		return text[:end] + "…\x1b[0m"
	}
	return text[:end] + "…"
}

// Fold breaks a styled line exactly at a width and keeps its style after the break. It
// is for regions whose rows must be counted.
func Fold(line string, width int) []string {
	if width <= 0 || len(line) <= width || Width(line) <= width {
		return []string{line}
	}
	var rows []string
	var row strings.Builder
	style, used := "", 0
	for line != "" {
		if line[0] == 0x1b {
			n := sequence(line)
			style = line[:n]
			if style == "\x1b[0m" {
				style = ""
			}
			row.WriteString(line[:n])
			line = line[n:]
			continue
		}
		n, w := Cluster(line)
		if used+w > width && used > 0 {
			if style != "" {
				row.WriteString("\x1b[0m")
			}
			rows = append(rows, row.String())
			row.Reset()
			row.WriteString(style)
			used = 0
		}
		row.WriteString(line[:n])
		used += w
		line = line[n:]
	}
	return append(rows, row.String())
}

// sequence returns the length of the SGR sequence at the beginning of text.
func sequence(text string) int {
	if end := strings.IndexByte(text, 'm'); end >= 0 {
		return end + 1
	}
	return len(text)
}

func plainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
