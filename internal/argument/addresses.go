package argument

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes/internal/lazy"
)

// Addresses lists the texts among arguments that are addresses, sorted: those that a program may open as they are,
// and others that have one in them. What is not JSON has none.
func Addresses(arguments json.RawMessage) (opens, others []string) {
	var v any
	if json.Unmarshal(arguments, &v) != nil {
		return nil, nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if isAddress(v) {
				opens = append(opens, strings.TrimSpace(v))
			} else if strings.Contains(v, "://") {
				others = append(others, v)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	slices.Sort(opens) // a map has no order
	slices.Sort(others)
	return opens, others
}

// How an address begins. Programs read a backslash as a slash, and leave out tabs and ends of lines in one of the web.
// A single word after two slashes is no host of the internet; it may be a comment.
var (
	web   = lazy.Regexp(`^(?i:https?|wss?|ftps?):\S`)
	other = lazy.Regexp(`^(?:[A-Za-z][\w+.-]+:[/\\]|[/\\]{2,}[^\s/\\])`)
	word  = lazy.Regexp(`^[/\\]{2,}[A-Za-z][\w:-]*(?:[/\\?#\s]|$)`)
)

// isAddress reports whether a program may open a text as an address.
func isAddress(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	return other().MatchString(s) && !word().MatchString(s) || web().MatchString(strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s))
}
