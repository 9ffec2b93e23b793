package shell

import (
	"slices"
	"strings"
)

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(strings.ToUpper(name), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// plainWords returns the arguments that are not options. The caller must not
// change them.
func plainWords(args []string) []string {
	if !slices.ContainsFunc(args, func(a string) bool { return len(a) > 1 && a[0] == '-' }) {
		return slices.Clip(args)
	}
	words := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(words, args[i+1:]...)
		}
		if len(a) > 1 && a[0] == '-' {
			continue
		}
		words = append(words, a)
	}
	return words
}

// hasShort reports whether one of the short options is given before --, alone or
// in a cluster. Case matters.
func hasShort(args []string, letters string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a[1:], letters) {
			return true
		}
	}
	return false
}

// hasLong reports whether a long option is given, also abbreviated or with a
// value.
func hasLong(args []string, option string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		a, _, _ = strings.Cut(a, "=")
		if len(a) >= 3 && strings.HasPrefix(option, strings.ToLower(a)) && strings.HasPrefix(a, "--") {
			return true
		}
	}
	return false
}
