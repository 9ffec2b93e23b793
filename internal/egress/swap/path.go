package swap

import (
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// forPath reports whether the secret is declared for a path, which is as it is sent: with its
// percent signs. Servers disagree about unusual spellings, so that each reading of one must
// be declared; where a reading is not clear, nothing but "/" (everything) matches.
func (s *secret) forPath(escaped string) bool {
	if slices.Contains(s.paths, "/") {
		return true
	}
	readings, clear := readingsOf(escaped)
	if !clear {
		return false
	}
	for _, path := range readings {
		if !slices.ContainsFunc(s.paths, func(rule string) bool { return pathMatches(rule, path) }) {
			return false
		}
	}
	return true
}

// readingsOf returns the ways in which a server may read a path: as it is sent, and decoded.
// They differ in "%2f" only, which is a slash for some servers and part of a name for others
// (npm asks for /@scope%2fname). It returns false for what a server may turn into another
// path: dot segments, empty segments, parameters after a semicolon, back slashes, and any of
// them behind one or more layers of percent signs.
func readingsOf(escaped string) ([]string, bool) {
	opaque, err := decodeExceptSlash(escaped)
	if err != nil {
		return nil, false
	}
	readings := []string{opaque}
	for layer := escaped; ; {
		next := unescaped(layer)
		if !plain(next) {
			return nil, false
		}
		if next == layer {
			return readings, true
		}
		readings = append(readings, next)
		if len(readings) > 4 {
			return nil, false
		}
		layer = next
	}
}

// unescaped removes one layer of percent signs. A sign that begins no escape stays, as many
// servers have it: a strict reading would end at the first such sign and not see those after it.
func unescaped(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				out.Write(b)
				i += 2
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// decodeExceptSlash decodes a path but keeps "%2F" in it.
func decodeExceptSlash(escaped string) (string, error) {
	kept := strings.NewReplacer("%2f", "%252F", "%2F", "%252F").Replace(escaped)
	return url.PathUnescape(kept)
}

// plain reports whether a decoded path means the same to every server. Some read "%u002e" as
// a dot, and bytes that are no UTF-8 as a character that they nearly are.
func plain(path string) bool {
	if !utf8.ValidString(path) || strings.Contains(path, "%u") || strings.Contains(path, "%U") {
		return false
	}
	if strings.ContainsAny(path, "\\;?#") || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		empty := segment == "" && i > 0 && i < len(segments)-1
		if empty || segment == "." || segment == ".." {
			return false
		}
	}
	return strings.HasPrefix(path, "/")
}

// pathMatches reports whether a rule covers a path. A rule without stars covers what is below
// it, at the border of a segment.
func pathMatches(rule, path string) bool {
	if strings.Contains(rule, "*") {
		return globMatches(rule, path)
	}
	rest, ok := strings.CutPrefix(path, rule)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(rule, "/"))
}

// globMatches matches "**" with anything and "*" with anything but a slash. It remembers one
// place to return to for each of the two, so that its time is bounded by the product of the
// lengths.
func globMatches(rule, path string) bool {
	matches := make([]bool, len(path)+1) // of the rest of the rule, by where in the path
	matches[len(path)] = true
	for r := len(rule) - 1; r >= 0; r-- {
		deep := rule[r] == '*' && r > 0 && rule[r-1] == '*'
		if deep {
			r--
		}
		next := make([]bool, len(path)+1)
		for p := len(path); p >= 0; p-- {
			switch {
			case rule[r] != '*':
				next[p] = p < len(path) && path[p] == rule[r] && matches[p+1]
			default:
				next[p] = matches[p] || p < len(path) && (deep || path[p] != '/') && next[p+1]
			}
		}
		matches = next
	}
	return matches[0]
}
