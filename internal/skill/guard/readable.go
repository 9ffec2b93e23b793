package guard

import (
	endian "encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// readable returns the text in a file, whatever else it holds: UTF-16 is decoded,
// bytes that no text has are dropped, and every kind of line end is a line break.
// Of a file of a known binary type it returns the words that are long enough to
// mean something, as the program strings does.
func readable(data []byte) string {
	text := decode(data)
	if media(data) || program(data) {
		text = words(text)
	}
	text = strings.NewReplacer("\x00", "", "\r\n", "\n", "\r", "\n").Replace(text)
	return strings.ToValidUTF8(text, "?")
}

func decode(data []byte) string {
	if len(data) < 2 {
		return string(data)
	}
	var order endian.ByteOrder
	switch {
	case data[0] == 0xff && data[1] == 0xfe:
		order = endian.LittleEndian
	case data[0] == 0xfe && data[1] == 0xff:
		order = endian.BigEndian
	default:
		return string(data)
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return string(utf16.Decode(units))
}

// leastWord is how many printable characters in a row are text.
const leastWord = 6

// words keeps the printable runs of a text, one per line.
func words(text string) string {
	var b strings.Builder
	start := -1
	flush := func(end int) {
		if start >= 0 && end-start >= leastWord {
			b.WriteString(text[start:end])
			b.WriteByte('\n')
		}
		start = -1
	}
	for i, r := range text {
		if r == utf8.RuneError || r != '\t' && !unicode.IsPrint(r) {
			flush(i)
			continue
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(text))
	return b.String()
}
