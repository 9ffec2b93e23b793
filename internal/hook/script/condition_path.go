package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// fitsPath reports whether a call is about a file that fits a pattern.
func fitsPath(pattern string, view asked, on folders) bool {
	path, ok := view.input["file_path"].(string)
	switch {
	case !ok || path == "": // a search reads what it finds
		return true
	case on.elsewhere: // where its home is, and where its links lead, is not known here
		return true
	case on.home == "" && strings.HasPrefix(pattern, "~/"):
		return true
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(on.work, path)
	}
	led, err := followed(path)
	if err != nil {
		return true
	}
	paths := []string{filepath.Clean(path), led}
	bases := []folders{on}
	real := on
	for _, at := range []*string{&real.work, &real.project, &real.home} {
		if to, err := filepath.EvalSymlinks(*at); err == nil && *at != "" {
			*at = to
		}
	}
	for _, base := range append(bases, real) {
		match, err := pathRule(pattern, base)
		if err != nil || slices.ContainsFunc(paths, func(p string) bool { return match.MatchString(filepath.ToSlash(p)) }) {
			return true
		}
	}
	return false
}

// followed follows the links of a path whose last folders may be missing. Where a link without an end leads is not known.
func followed(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return real, err
	}
	if _, there := os.Lstat(path); there == nil {
		return "", err
	}
	dir, err := followed(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// pathRule is a pattern for paths as gitignore has them: //x is a path from the root, ~/x one in the home, /x one in the folder
// of a project's settings (for hooks of the user in the working folder), a/b one in the working folder, and a name without a slash is anywhere. What is in a folder that fits, fits.
func pathRule(pattern string, on folders) (*regexp.Regexp, error) {
	pattern = filepath.ToSlash(pattern)
	base, rest := filepath.ToSlash(on.work), strings.TrimPrefix(pattern, "./")
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, rest = "", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		base, rest = filepath.ToSlash(on.home), pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		base, rest = filepath.ToSlash(on.project), pattern[1:]
	case rest == pattern && !strings.Contains(strings.TrimSuffix(pattern, "/"), "/"):
		base, rest = "", "**/"+pattern
	}
	var b strings.Builder
	flags := "(?s)^"
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" { // their disks take .GIT for .git
		flags = "(?is)^"
	}
	b.WriteString(flags + regexp.QuoteMeta(strings.TrimSuffix(base, "/")) + "/")
	rest = strings.TrimSuffix(rest, "/")
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		case rest[0] == '[' || rest[0] == '{' || rest[0] == '!' || rest[0] == '\\':
			return nil, fmt.Errorf("%c is not supported: use * and **", rest[0])
		default:
			n := strings.IndexAny(rest, `*?[{!\`)
			if n < 0 {
				n = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			rest = rest[n:]
		}
	}
	b.WriteString("(?:/.*)?$")
	return regexp.Compile(b.String())
}
