// Package getopt reads the arguments of programs: plain words, short and long options
// with their values, the command behind a wrapper, the verb of a tool. It knows how options
// are written, not what those of a program mean; its callers say which take values.
package getopt

import (
	"slices"
	"strings"
)

// PlainWords returns the arguments that are not options. The caller must not
// change them.
func PlainWords(args []string) []string {
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

// At returns one of the words, "" if there are fewer.
func At(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}

// HasShort reports whether one of the short options is given before --, alone or
// in a cluster. Case matters.
func HasShort(args []string, letters string) bool {
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

// HasLong reports whether a long option is given, also abbreviated or with a
// value.
func HasLong(args []string, option string) bool {
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

// HasOption reports whether one of the options may be given: a long option also
// abbreviated, a short one also in a cluster.
func HasOption(name string, args, options []string) bool {
	for _, a := range args {
		if a == "--" && name != "find" {
			return false
		}
		long, _, _ := strings.Cut(a, "=")
		if slices.ContainsFunc(options, func(o string) bool {
			switch {
			case name == "find":
				return a == o
			case strings.HasPrefix(o, "--"):
				return len(long) > 2 && strings.HasPrefix(o, long)
			}
			return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a[1:], o[1:])
		}) {
			return true
		}
	}
	return false
}

// OptionValue returns the value of an option, also of an abbreviated one.
func OptionValue(kind, a, option string, after []string) (string, bool) {
	next := ""
	if len(after) > 0 {
		next = after[0]
	}
	name, value, joined := strings.Cut(a, "=")
	if !joined {
		value = next
	}
	long := strings.HasPrefix(option, "--")
	switch {
	case name == option:
		return value, true
	case long && joined && len(name) > 5 && name != "--checkpoint" && strings.HasPrefix(option, name):
		return value, true
	case !long && len(option) == 2 && strings.HasPrefix(a, option) && len(a) > 2 && a[1] != '-' && kind != "go" && kind != "npm":
		return a[2:], true
	}
	return "", false
}

// WithoutValues drops the values of short options.
func WithoutValues(rest []string, letters string) []string {
	var out []string
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		out = append(out, w)
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexAny(w[1:], letters) == len(w)-2 {
			i++
		}
	}
	return out
}

// CopyValues are the short options of cp and its like that take a value.
func CopyValues(name string) string {
	switch name {
	case "install":
		return "mogS"
	case "rsync":
		return "eBMTf@"
	case "scp":
		return "cFiJloPSDX"
	}
	return "S"
}

// Excludes reports whether an option says what to leave out.
func Excludes(w string) bool {
	if !strings.HasPrefix(w, "-") {
		return false
	}
	return strings.Contains(w, "exclude") || strings.Contains(w, "ignore") || strings.Contains(w, "skip") || strings.Contains(w, "omit") || strings.Contains(w, "filter")
}

// WithoutExcluded drops options that say what to leave out, with their values.
func WithoutExcluded(rest []string) []string {
	var out []string
	for i, w := range rest {
		if Excludes(w) || i > 0 && Excludes(rest[i-1]) && !strings.Contains(rest[i-1], "=") {
			continue
		}
		out = append(out, w)
	}
	return out
}

// Copied returns what cp and its like copy, and where: to the folder that an option names,
// or to the last word. valued are the short options with a value.
func Copied(args []string, valued string) (target string, sources []string, folder bool) {
	target, args = TargetFolder(WithoutValues(args, valued))
	sources = PlainWords(args)
	if target != "" || len(sources) < 2 {
		return target, sources, target != ""
	}
	return sources[len(sources)-1], sources[:len(sources)-1], false
}

// TargetFolder returns the folder that -t names, and the other arguments.
func TargetFolder(rest []string) (dir string, others []string) {
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		switch {
		case (w == "--target-directory" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.HasSuffix(w, "t")) && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-"):
			dir, others = rest[i+1], append(others, strings.TrimSuffix(w, "t"))
			i++
		case strings.HasPrefix(w, "--target-directory="):
			_, dir, _ = strings.Cut(w, "=")
		case strings.HasPrefix(w, "-t") && len(w) > 2:
			dir = w[2:]
		default:
			others = append(others, w)
		}
	}
	return dir, others
}

// HasDeletion reports whether an option of rsync and its like deletes at the target.
func HasDeletion(rest []string) bool {
	for _, a := range rest {
		if strings.HasPrefix(a, "--del") {
			return true
		}
	}
	return false
}

// OptionsOnly returns the options with their values.
func OptionsOnly(rest []string) []string {
	var out []string
	for _, w := range rest {
		if strings.HasPrefix(w, "--") && strings.Contains(w, "=") && !strings.HasPrefix(w, "--rsh=") {
			out = append(out, w)
		}
	}
	return out
}
