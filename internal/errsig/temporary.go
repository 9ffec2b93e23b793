package errsig

import (
	"strings"

	"hermes/internal/lazy"
)

var (
	// temporary is the folder of temporary files at the beginning of a path. On
	// macOS its own name is random.
	temporary = lazy.Regexp(`^(?:/tmp/|/var/tmp/|(?:/private)?/var/folders/[^/]+/[^/]+/t/|/dev/shm/|[a-z]:[\\/].*?[\\/]temp[\\/])`)
	// afterTmp is what mktemp (tmp.XXXXXXXXXX) and Python (tmpXXXXXXXX) make up.
	afterTmp = lazy.Regexp(`^tmp(?:\.[a-z0-9]{10}|[a-z0-9_]{8})(\.[a-z0-9]+)?$`)
	// pieces and turns find letters and digits in turn, as in a1b2c3 but not in server12.
	pieces = lazy.Regexp(`[a-z0-9]{6,}`)
	turns  = lazy.Regexp(`[a-z][0-9]+[a-z]|[0-9][a-z]+[0-9]`)
	// inFolder and inFile are the numbers that programs add: in a folder short ones, too.
	inFolder = lazy.Regexp(`[0-9]{3,}|-[0-9]+$`)
	inFile   = lazy.Regexp(`[0-9]{6,}|\.[0-9]{3,}$`)
)

// withoutRandom replaces by * what programs make up in the path of a temporary file.
// The names beside it are part of what failed.
func withoutRandom(path string) string {
	root := temporary().FindString(path)
	if root == "" {
		return path
	}
	names := strings.FieldsFunc(path[len(root):], func(r rune) bool { return r == '/' || r == '\\' })
	for i, name := range names {
		numbers := inFolder
		if i == len(names)-1 {
			numbers = inFile
		}
		name = afterTmp().ReplaceAllString(name, "tmp*$1")
		name = pieces().ReplaceAllStringFunc(name, func(p string) string {
			if turns().MatchString(p) {
				return "*"
			}
			return p
		})
		names[i] = numbers().ReplaceAllString(name, "*")
	}
	if strings.Contains(root, "/var/folders/") {
		root = "/var/folders/*/"
	}
	return root + strings.Join(names, "/")
}
