package fault

import "strings"

// Parameter returns the name of the top-level request field that a service
// rejected, in lower case; "" for other failures. It never returns a field that
// every call needs.
func Parameter(err error) string {
	f := gather(Question{Err: err})
	if f.failure == nil || f.status == 0 && len(f.codes) == 0 {
		return ""
	}
	switch f.status {
	case 0, 400, 422, 500, 501:
	default:
		return ""
	}
	if !f.coded("unsupported_parameter|unknown_parameter|unsupported_value") && !f.has(parameterWords) && !f.has("is unsupported|max_tokens is too large") {
		return ""
	}
	name := topLevel(f.param)
	if name == "" {
		name = named(f.whole)
	}
	switch name {
	case "model", "messages", "input", "contents", "prompt", "tools", "system", "instructions", "stream":
		return ""
	}
	return name
}

// named finds the field after or before the words that reject it.
func named(text string) string {
	for _, lead := range []string{
		"unsupported parameter", "unsupported_parameter", "unknown parameter", "unrecognized request argument supplied", "unrecognized request argument",
		"unrecognized parameter", "unsupported value", "unknown field", "unknown name", "unexpected keyword argument", "does not support parameters", "property",
	} {
		if _, rest, ok := strings.Cut(text, lead); ok {
			if name := firstName(rest); name != "" {
				return name
			}
		}
	}
	for _, tail := range []string{
		": extra inputs are not permitted", " is not supported with this model", " is not supported by this model", " is deprecated for this model", " is unsupported", " is too large",
	} {
		if before, _, ok := strings.Cut(text, tail); ok {
			if name := lastName(before); name != "" {
				return name
			}
		}
	}
	if strings.Contains(text, "max_tokens") {
		return "max_tokens"
	}
	return ""
}

// firstName returns the field at the beginning of a text, after quotes and
// colons. It skips ordinary words: most fields have an underscore, and those of
// one word are few.
func firstName(s string) string {
	s = strings.TrimLeft(s, " :'\"`[(\\")
	end := 0
	for end < len(s) && nameByte(s[end]) {
		end++
	}
	return topLevel(s[:end])
}

func lastName(s string) string {
	s = strings.TrimRight(s, " :'\"`)\\")
	start := len(s)
	for start > 0 && nameByte(s[start-1]) {
		start--
	}
	return topLevel(s[start:])
}

func nameByte(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// topLevel returns the first part of a path such as reasoning.effort.
func topLevel(path string) string {
	name := strings.ToLower(strings.TrimSpace(path))
	if i := strings.IndexAny(name, ".[/"); i > 0 {
		name = name[:i]
	}
	name = strings.Trim(name, ".-_")
	if strings.ContainsRune(name, '_') {
		return name
	}
	switch name {
	case "temperature", "reasoning", "thinking", "seed", "stop", "n", "logprobs", "store", "metadata", "user", "verbosity", "include", "truncation", "options", "effort",
		"streamoptions", "generationconfig", "thinkingconfig", "provider", "plugins", "transforms", "usage", "think":
		return name
	}
	return ""
}
