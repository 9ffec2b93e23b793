package yamledit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Flow writes a value of a type that Value returns as YAML on one line.
func Flow(v any) string { return flow(normal(v), 0, false) }

// flow writes a value on one line. style is the quoting for a text; other values
// are quoted only if YAML would read them as something else.
func flow(v any, style yaml.Style, inFlow bool) string {
	switch v := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range keys(v) {
			parts = append(parts, text(k, 0, true)+": "+flow(v[k], 0, true))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, flow(item, 0, true))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return text(v, style, inFlow)
	}
	return scalar(v)
}

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		return number(v)
	}
	return fmt.Sprint(v)
}

func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		return s + ".0"
	}
	// PyYAML takes a number with an exponent for text unless it has a point.
	if i := strings.IndexByte(s, 'e'); i > 0 && !strings.Contains(s, ".") {
		return s[:i] + ".0" + s[i:]
	}
	return s
}

// text writes a string, quoted if it has to be.
func text(s string, style yaml.Style, inFlow bool) string {
	printable := !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '\ufeff'
	})
	switch {
	case !printable || style&yaml.DoubleQuotedStyle != 0:
		return double(s)
	case style&yaml.SingleQuotedStyle != 0 || !plainText(s, inFlow):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// plainText reports whether every YAML reader reads the bare text as that string.
func plainText(s string, inFlow bool) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	if strings.IndexByte("-?:,[]{}#&*!|>'\"%@`=<", s[0]) >= 0 {
		return false
	}
	if _, isText := Plain(s).(string); !isText || looksNumeric(s) {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	switch s {
	case "y", "Y", "n", "N", "...":
		return false
	}
	return !inFlow || !strings.ContainsAny(s, ",[]{}:?")
}

// looksNumeric reports whether some reader may take a text for a number, such as a
// time, a date or a version.
func looksNumeric(s string) bool {
	if strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return false
	}
	return strings.Trim(s, "0123456789+-.:_eEtTzZ ") == ""
}

func double(s string) string {
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
		case unicode.IsPrint(r) && r != '\ufeff':
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// block writes a collection over several lines, the first of them without
// indentation. indent is that of the collection, step that of each level in it.
func block(v any, indent, step int, newline string) string {
	var lines []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range keys(v) {
			lines = append(lines, blockEntry(k, v[k], indent, step, newline))
		}
	case []any:
		for _, item := range v {
			lines = append(lines, "- "+blockItem(item, indent, step, newline))
		}
	}
	return strings.Join(lines, newline+strings.Repeat(" ", indent))
}

// blockEntry writes "key: value", the value below it if it is a collection.
func blockEntry(key string, v any, indent, step int, newline string) string {
	name := text(key, 0, false)
	if strings.HasPrefix(name, "- ") {
		name = double(key)
	}
	if empty(v) || !collection(v) {
		return name + ": " + flow(v, 0, false)
	}
	below := strings.Repeat(" ", indent+step)
	return name + ":" + newline + below + block(v, indent+step, step, newline)
}

func blockItem(v any, indent, step int, newline string) string {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		return block(m, indent+2, step, newline)
	}
	return flow(v, 0, false)
}

func collection(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// naming lists the keys that identify an entry. They are written first; the others
// follow in alphabetical order.
var naming = []string{"name", "provider", "model"}

func keys(m map[string]any) []string {
	at := func(key string) int {
		if i := slices.Index(naming, key); i >= 0 {
			return i
		}
		return len(naming)
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), strings.Compare(a, b))
	})
}
