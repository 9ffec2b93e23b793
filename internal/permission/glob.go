package permission

import "strings"

// plain returns a text in lower case, with single spaces.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// mayMatch reports whether the program of a command is that of a glob, and what the
// glob says next is only known at run time.
func mayMatch(glob, text string) bool {
	at := strings.IndexByte(text, 0)
	if at < 0 {
		return false
	}
	fixed := strings.IndexAny(glob, "*?[")
	if fixed < 0 {
		fixed = len(glob)
	}
	return at < fixed && strings.Contains(text[:at], " ") && glob[:at] == text[:at]
}

// fnmatch matches a whole text against a glob of *, ? and [sets]; unlike in
// paths, * also matches slashes.
func fnmatch(glob, text string) bool {
	star, mark := -1, 0
	g, t := 0, 0
	for t < len(text) {
		if g < len(glob) && glob[g] == '*' {
			star, mark = g, t
			g++
			continue
		}
		if size := one(glob[g:], text[t]); size > 0 {
			g += size
			t++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		g, t = star+1, mark
	}
	return strings.Trim(glob[g:], "*") == ""
}

// one matches a single byte and returns the number of glob bytes used, 0 for
// no match.
func one(glob string, c byte) int {
	if glob == "" {
		return 0
	}
	switch glob[0] {
	case '?':
		return 1
	case '[':
		end := strings.IndexByte(glob[1:], ']')
		if end <= 0 {
			break
		}
		set := glob[1 : 1+end]
		not := set[0] == '!' || set[0] == '^'
		if not {
			set = set[1:]
		}
		if inSet(set, c) == not {
			return 0
		}
		return end + 2
	}
	if glob[0] == c {
		return 1
	}
	return 0
}

func inSet(set string, c byte) bool {
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] <= c && c <= set[i+2] {
				return true
			}
			i += 2
			continue
		}
		if set[i] == c {
			return true
		}
	}
	return false
}
