package argument

import (
	"encoding/json"
	"slices"
	"strings"
)

// Addresses lists the texts among arguments that are addresses, sorted: those of the web, and those
// of other schemes. What is not JSON has none.
func Addresses(arguments json.RawMessage) (web, others []string) {
	var v any
	if json.Unmarshal(arguments, &v) != nil {
		return nil, nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			lower := strings.ToLower(strings.TrimSpace(v))
			if strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") {
				web = append(web, strings.TrimSpace(v))
			} else if strings.Contains(lower, "://") {
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
	slices.Sort(web) // a map has no order
	slices.Sort(others)
	return web, others
}
