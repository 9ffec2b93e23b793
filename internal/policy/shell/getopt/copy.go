package getopt

import (
	"strings"
)

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
