package permission

import (
	"strings"
	"unicode/utf8"
)

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

// fnmatch matches a whole text against a glob of *, ? and [sets]; unlike in paths, * also matches slashes. A **/ behind a
// slash is any number of folders, also none.
func fnmatch(glob, text string) bool {
	star, mark, folders := -1, 0, false // where the glob goes on behind its last star, and the text behind what that covers
	g, t := 0, 0
	for t < len(text) {
		if g < len(glob) && glob[g] == '*' {
			folders = g > 0 && glob[g-1] == '/' && strings.HasPrefix(glob[g:], "**/")
			if g++; folders {
				g += len("*/")
			}
			star, mark = g, t
			continue
		}
		if used, size := one(glob[g:], text[t:]); used > 0 {
			g += used
			t += size
			continue
		}
		if star < 0 {
			return false
		}
		for mark++; folders && text[mark-1] != '/'; mark++ {
			if mark == len(text) {
				return false
			}
		}
		g, t = star, mark
	}
	return strings.Trim(glob[g:], "*") == "" || glob[g:] == "**/" && g > 0 && glob[g-1] == '/'
}

// one matches a single character and returns the number of bytes of the glob and of the text, 0 for no match.
func one(glob, text string) (used, size int) {
	if glob == "" {
		return 0, 0
	}
	c, size := utf8.DecodeRuneInString(text)
	switch glob[0] {
	case '?':
		return 1, size
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
		if inSet([]rune(set), c) == not {
			return 0, 0
		}
		return end + 2, size
	}
	if strings.HasPrefix(glob, text[:size]) {
		return size, size
	}
	return 0, 0
}

func inSet(set []rune, c rune) bool {
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
