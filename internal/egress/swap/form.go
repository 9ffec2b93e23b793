package swap

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"

	"hermes/internal/lazy"
)

// pattern is one form of a value, and what replaces it: the same form of the placeholder,
// which has the same length.
type pattern struct{ find, put string }

// formsOf returns the forms in which a value may be in a reply: as it is; as JSON, HTML and URLs
// write it; in hex; and in base64, where it may begin at any of three places of a group.
func formsOf(value, placeholder string) []pattern {
	var out []pattern
	seen := map[string]bool{}
	add := func(find, put string) {
		if len(find) == len(put) && len(find) >= minValue && find != put && !seen[find] {
			seen[find] = true
			out = append(out, pattern{find, put})
		}
	}
	for _, f := range writings {
		add(f(value), f(placeholder))
	}
	for at := range 3 {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			add(within(e, value, at), within(e, placeholder, at))
		}
	}
	return out
}

// writings write a text in the ways that do not depend on what is around it.
var writings = []func(string) string{
	func(s string) string { return s },
	inJSON,
	func(s string) string { return strings.ReplaceAll(inJSON(s), "/", `\/`) },
	func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) },
	html.EscapeString,
	url.QueryEscape,
	url.PathEscape,
	func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
	func(s string) string { return lowerEscapes(url.PathEscape(s)) },
	func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	func(s string) string { return hex.EncodeToString([]byte(s)) },
	func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
}

func inJSON(s string) string {
	coded, err := json.Marshal(s)
	if err != nil {
		return s // a string always has a form in JSON
	}
	return string(coded[1 : len(coded)-1])
}

var percent = lazy.Regexp(`%[0-9A-F]{2}`)

func lowerEscapes(s string) string { return percent().ReplaceAllStringFunc(s, strings.ToLower) }

// within returns the part of the base64 form of a text that does not depend on what is
// before and after it, where it begins at the given place of a group of three bytes.
func within(e *base64.Encoding, s string, at int) string {
	coded := e.EncodeToString([]byte(strings.Repeat("\x00", at) + s))
	from := (at*8 + 5) / 6 // the first character that has bits of s only
	to := (at + len(s)) * 8 / 6
	return coded[from:to]
}
