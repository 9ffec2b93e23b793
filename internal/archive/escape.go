package archive

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes/internal/lazy"
)

// jsonString matches a string in valid JSON.
var jsonString = lazy.Regexp(`"(?:[^"\\]|\\.)*"`)

// unescaped returns valid JSON with its characters as they are: only what JSON must
// escape stays escaped. Order, numbers and blanks do not change.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return jsonString().ReplaceAllStringFunc(text, func(quoted string) string {
		var s string
		if json.Unmarshal([]byte(quoted), &s) != nil {
			return quoted
		}
		if strings.ContainsRune(s, utf8.RuneError) && !strings.ContainsRune(quoted, utf8.RuneError) {
			return quoted // half a character has no other form
		}
		return quote(s)
	})
}

// quote returns a text as a JSON string. [json.Marshal] escapes more than JSON needs.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
