package yamledit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is YAML but for a few escapes. A text that is JSON stays JSON after an edit, so
// that other programs can still read it.

// isJSON reports whether a text is a JSON object that is not empty.
func isJSON(src []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	return len(text) > 0 && text[0] == '{' && len(bytes.TrimSpace(text[1:])) > 1 && json.Valid(text)
}

// forParser returns a JSON text with the escapes that the YAML parser does not know
// written in another way, and with every value at the same place: what a text gets
// shorter is filled up behind its closing quote.
func forParser(src []byte) []byte {
	out := make([]byte, 0, len(src))
	inside, saved := false, 0
	for i := 0; i < len(src); i++ {
		switch b := src[i]; {
		case b == '"':
			out = append(out, b)
			if inside {
				out = append(out, strings.Repeat(" ", saved)...)
				saved = 0
			}
			inside = !inside
		case !inside && b == '\t':
			out = append(out, ' ')
		case !inside || b != '\\':
			out = append(out, b)
		case src[i+1] == '/': // in valid JSON an escape is never the last byte
			out = append(out, '/')
			saved++
			i++
		case src[i+1] == 'u':
			r, size := unicodeEscape(src[i:])
			if size == len(`\ud83d\ude00`) {
				out = fmt.Appendf(out, `\U%08X`, r)
				saved += size - len(`\U0001F600`)
			} else {
				out = fmt.Appendf(out, `\u%04X`, r)
			}
			i += size - 1
		default:
			out = append(out, b, src[i+1])
			i++
		}
	}
	return out
}

// unicodeEscape reads \uXXXX, or two of them that are one character, at the start of s
// and returns how many bytes it has. Half a pair is the replacement character.
func unicodeEscape(s []byte) (rune, int) {
	const one = len(`\u0000`)
	at := func(s []byte) rune {
		if len(s) < one || s[0] != '\\' || s[1] != 'u' {
			return utf8.RuneError
		}
		n, err := strconv.ParseUint(string(s[2:one]), 16, 32)
		if err != nil {
			return utf8.RuneError
		}
		return rune(n)
	}
	r := at(s)
	if !utf16.IsSurrogate(r) {
		return r, one
	}
	if pair := utf16.DecodeRune(r, at(s[one:])); pair != utf8.RuneError {
		return pair, 2 * one
	}
	return utf8.RuneError, one
}

// inline writes a value on one line: as JSON if the text is JSON, else as flow does.
func (d *Document) inline(v any, otherwise func() string) string {
	if !d.json {
		return otherwise()
	}
	return jsonFlow(v)
}

// jsonFlow writes a value of a type that Value returns as JSON on one line.
func jsonFlow(v any) string {
	switch v := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range keys(v) {
			parts = append(parts, jsonText(k)+": "+jsonFlow(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, jsonFlow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return jsonText(v)
	}
	return scalar(v)
}

func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return double(s) // cannot happen: every text has a JSON form
	}
	return strings.TrimRight(b.String(), "\n")
}

// separator returns the text between the entries of a collection in braces or brackets:
// in JSON with one entry a line, a line break with the indentation of the last entry,
// which begins at this offset.
func (d *Document) separator(last int) string {
	line := last
	for line > 0 && blank(d.src[line-1]) {
		line--
	}
	if !d.json || line == 0 || breakAt(d.src, line-1) == 0 {
		return ", "
	}
	return "," + d.newline + string(d.src[line:last])
}
