package search

import (
	"strings"
	"unicode/utf8"
)

// A Glob matches names or slash-separated paths: * and ? stay within a segment,
// ** spans segments, [a-z] and {a,b} are alternatives. Without a slash it is
// matched against the last segment only. The zero value matches everything.
type Glob struct {
	alternatives []string
	fold         bool
}

// NewGlob makes a glob from a pattern. Braces expand to at most 64 patterns.
func NewGlob(pattern string) Glob {
	pattern = strings.TrimPrefix(pattern, "./")
	if pattern == "" {
		return Glob{}
	}
	return Glob{alternatives: expand(pattern, 64)}
}

// Fold returns the glob that ignores case.
func (g Glob) Fold() Glob {
	folded := Glob{fold: true}
	for _, a := range g.alternatives {
		folded.alternatives = append(folded.alternatives, strings.ToLower(a))
	}
	return folded
}

// Match reports whether the glob matches a relative path with slashes.
func (g Glob) Match(path string) bool {
	if len(g.alternatives) == 0 {
		return true
	}
	if g.fold {
		path = strings.ToLower(path)
	}
	for _, a := range g.alternatives {
		if matchPath(a, path) {
			return true
		}
	}
	return false
}

// Hidden reports whether the glob names something that begins with a dot and
// therefore asks for hidden files.
func (g Glob) Hidden() bool {
	for _, a := range g.alternatives {
		if strings.HasPrefix(a, ".") || strings.Contains(a, "/.") {
			return true
		}
	}
	return false
}

func matchPath(pattern, path string) bool {
	if !strings.Contains(pattern, "/") {
		return wild(pattern, path[strings.LastIndexByte(path, '/')+1:])
	}
	return segments(strings.TrimPrefix(pattern, "/"), path)
}

// segments matches a pattern with slashes against a whole path.
func segments(pattern, path string) bool {
	for {
		head, rest, more := strings.Cut(pattern, "/")
		if head == "**" {
			if !more {
				return true
			}
			for {
				if segments(rest, path) {
					return true
				}
				_, after, ok := strings.Cut(path, "/")
				if !ok {
					return false
				}
				path = after
			}
		}
		name, after, deeper := strings.Cut(path, "/")
		if !wild(head, name) {
			return false
		}
		if !more || !deeper {
			return !more && !deeper
		}
		pattern, path = rest, after
	}
}

// wild matches one segment. A backslash makes the next character literal.
func wild(pattern, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, n
			p++
			continue
		}
		if used, size, ok := wildOne(pattern[p:], name[n:]); ok {
			p += used
			n += size
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// wildOne matches the first item of a pattern against the first character of
// name and returns the length of both.
func wildOne(pattern, name string) (used, size int, ok bool) {
	if pattern == "" {
		return 0, 0, false
	}
	r, size := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return 1, size, true
	case '[':
		if used, ok := class(pattern, r); used > 0 {
			return used, size, ok
		}
	case '\\':
		if len(pattern) > 1 {
			want, width := utf8.DecodeRuneInString(pattern[1:])
			return 1 + width, size, want == r
		}
	}
	want, width := utf8.DecodeRuneInString(pattern)
	return width, size, want == r
}

// class matches r against the bracket expression that pattern begins with. used
// is 0 if the bracket is never closed and is therefore literal.
func class(pattern string, r rune) (used int, ok bool) {
	end := strings.IndexByte(pattern[1:], ']')
	if end == 0 || end == 1 && (pattern[1] == '!' || pattern[1] == '^') {
		if next := strings.IndexByte(pattern[end+2:], ']'); next >= 0 {
			end += 1 + next
		} else {
			end = -1
		}
	}
	if end < 0 {
		return 0, false
	}
	body := pattern[1 : 1+end]
	negate := strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^")
	if negate {
		body = body[1:]
	}
	list := []rune(body)
	for i := 0; i < len(list); i++ {
		low, high := list[i], list[i]
		if i+2 < len(list) && list[i+1] == '-' {
			high = list[i+2]
			i += 2
		}
		if low <= r && r <= high {
			return end + 2, !negate
		}
	}
	return end + 2, negate
}

// expand turns a{b,c} into ab and ac, up to limit patterns.
func expand(pattern string, limit int) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 || limit < 2 {
		return []string{pattern}
	}
	depth, start := 0, open+1
	var choices []string
	for i := open; i < len(pattern); i++ {
		switch pattern[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 || depth == 1 && pattern[i] == ',' {
			choices = append(choices, pattern[start:i])
			start = i + 1
		}
		if depth > 0 {
			continue
		}
		var list []string
		for _, c := range choices {
			for _, e := range expand(c+pattern[i+1:], limit/len(choices)) {
				list = append(list, pattern[:open]+e)
			}
		}
		return list[:min(len(list), limit)]
	}
	return []string{pattern} // never closed, therefore literal
}
