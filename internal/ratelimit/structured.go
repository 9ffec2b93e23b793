package ratelimit

import "strings"

// structured reads RateLimit and RateLimit-Policy, the structured headers of the
// IETF's draft (draft-ietf-httpapi-ratelimit-headers):
//
//	RateLimit: "default";r=50;t=30
//	RateLimit-Policy: "default";q=100;w=60, "daily";q=1000;w=86400
//
// Earlier drafts had `limit=100, remaining=50, reset=50` and the policy `100;w=60`,
// which is not read, because the first one repeats its limit.
func structured(found map[string]*reading, value string) {
	at := func(key string) *reading {
		if found[key] == nil {
			found[key] = &reading{}
		}
		return found[key]
	}
	for i, item := range splitUnquoted(value, ',') {
		if i == mostWindows {
			return
		}
		fields := splitUnquoted(item, ';')
		key := ""
		if name, ok := strings.CutPrefix(fields[0], `"`); ok {
			key, fields = policyKey(strings.TrimSuffix(name, `"`)), fields[1:]
		}
		for _, f := range fields {
			name, v, ok := strings.Cut(f, "=")
			if !ok {
				continue
			}
			switch name {
			case "q", "limit":
				at(key).limit = v
			case "r", "remaining":
				at(key).left = v
			case "t", "reset":
				at(key).reset = v
			}
		}
	}
}

// policyKey is the key of a window by the name of its policy, which each service
// chooses; the usual name for the only one says nothing.
func policyKey(name string) string {
	if name = strings.ToLower(strings.ReplaceAll(name, "_", "-")); name == "default" {
		return ""
	}
	return name
}

// splitUnquoted splits at a byte that is not in quotes.
func splitUnquoted(s string, at byte) (parts []string) {
	quoted, from := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == at && !quoted:
			parts, from = append(parts, strings.TrimSpace(s[from:i])), i+1
		}
	}
	return append(parts, strings.TrimSpace(s[from:]))
}
