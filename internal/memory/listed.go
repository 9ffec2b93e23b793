package memory

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
)

// errNoTexts says which JSON lists can be imported.
var errNoTexts = errors.New("not a JSON list of strings, or of objects with text, content or memory; nothing was imported")

// texts reads a JSON list of strings, or of objects that contain one.
func texts(data string) ([]string, error) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(data), &items); err != nil || len(items) == 0 {
		return nil, errNoTexts
	}
	var out []string
	for _, raw := range items {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var o struct{ Text, Content, Memory string }
			if json.Unmarshal(raw, &o) != nil || o.Text+o.Content+o.Memory == "" {
				return nil, errNoTexts
			}
			text = o.Text + o.Content + o.Memory // one of them
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out, nil
}

// bullet matches the beginning of a list item.
var bullet = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?`) })

// listed splits a text at section signs or, if it is written as a list, into its
// items and the paragraphs between them. It drops headings.
func listed(text string) []string {
	entries := parse(text)
	if len(entries) != 1 || !isList(entries[0]) {
		return entries
	}
	var out, item []string
	flush := func() {
		if text := strings.TrimSpace(strings.Join(item, "\n")); text != "" {
			out = append(out, text)
		}
		item = nil
	}
	code := false
	for line := range strings.SplitSeq(entries[0], "\n") {
		plain := strings.TrimSpace(line)
		fence := strings.HasPrefix(plain, "```")
		switch at := bullet().FindString(line); {
		case code || fence:
			item = append(item, strings.TrimRight(line, " "))
			code = code != fence
		case plain == "" || strings.HasPrefix(plain, "#"):
			flush()
		case at != "":
			flush()
			item = append(item, strings.TrimSpace(line[len(at):]))
		default:
			item = append(item, plain)
		}
	}
	flush()
	return out
}

// isList reports whether a text has list items.
func isList(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if bullet().MatchString(line) {
			return true
		}
	}
	return false
}
