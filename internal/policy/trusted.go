package policy

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// fetched are the names of folders whose content others wrote and a program fetched,
// also in a folder that the user trusts.
var fetched = []string{
	"node_modules", "bower_components", "jspm_packages", "vendor", "third_party", "third-party", "site-packages", "dist-packages", ".venv", "venv", ".tox",
	".nox", ".eggs", "Pods", "Carthage", "deps", "_deps", ".cargo", ".gradle", ".m2", ".yarn", ".pnpm-store", "pkg/mod",
}

// Trusted returns whether a file or folder, by its absolute path, is in one of the
// folders that the user trusts, wherever links lead, and is no dependency that was
// fetched. real resolves all links of a path, as filepath.EvalSymlinks does. Folders
// that are not absolute or do not exist trust nothing.
func Trusted(folders []string, real func(string) (string, error)) func(path string) bool {
	var roots []string
	for _, f := range folders {
		if root, err := real(f); err == nil && filepath.IsAbs(f) {
			roots = append(roots, root)
		}
	}
	return func(path string) bool {
		if len(roots) == 0 || !filepath.IsAbs(path) {
			return false
		}
		at, err := existing(filepath.Clean(path), real)
		if err != nil {
			return false
		}
		return slices.ContainsFunc(roots, func(root string) bool {
			rest, err := filepath.Rel(root, at)
			return err == nil && filepath.IsLocal(rest) && !isFetched(rest)
		})
	}
}

// existing resolves the links of a path whose last parts may not exist.
func existing(path string, real func(string) (string, error)) (string, error) {
	at, err := real(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		if at, err = existing(parent, real); err == nil {
			at = filepath.Join(at, filepath.Base(path))
		}
	}
	return at, err
}

func isFetched(path string) bool {
	path = "/" + filepath.ToSlash(path) + "/"
	return slices.ContainsFunc(fetched, func(name string) bool { return strings.Contains(path, "/"+name+"/") })
}

var fetchedFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[\s/\\"'(:])(?:` + strings.ReplaceAll(strings.Join(fetched, "|"), ".", `\.`) + `)[/\\][^\s"']`)
})

// ShowsFetched reports whether a text names a file in a folder that a program fetched,
// as the results of searches do.
func ShowsFetched(text string) bool { return fetchedFile().MatchString(text) }
