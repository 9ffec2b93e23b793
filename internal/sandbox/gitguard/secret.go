package gitguard

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"hermes/internal/redact"
)

// The bounds of looking for secrets.
const (
	maxDoubtful    = 256       // files of one folder whose text is looked at; more count as secrets
	maxText        = 256 << 10 // bytes of one of them; a larger one counts as a secret
	maxToolFolders = 16        // folders in those of the tools of one folder
)

// secretIn reports whether an entry of a folder is a file with secrets.
func secretIn(r *os.Root, rel string, e fs.DirEntry, reads *int) bool {
	n, name := known(), e.Name()
	switch {
	case n.env(name):
		return true
	case e.IsDir() || forTests(rel):
		return false
	case n.secret(name):
		return true
	case !n.doubtful(name):
		return false
	}
	*reads--
	return *reads < 0 || looksSecret(r, path.Join(rel, name))
}

// forTests reports whether a folder is one for tests, whose keys are none.
func forTests(rel string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(rel), "/"), func(name string) bool {
		switch name {
		case "test", "tests", "testdata", "__tests__", "spec", "fixtures", "__fixtures__", "testing", "examples", "example":
			return true
		}
		return false
	})
}

// looksSecret reports whether the text of a file holds something that would be masked. What
// cannot be read may.
func looksSecret(r *os.Root, at string) bool {
	info, err := r.Lstat(at)
	if err != nil || !info.Mode().IsRegular() {
		return !gone(err) && err != nil
	}
	f, err := OpenFileIn(r, at)
	if err != nil {
		return !gone(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return err != nil || len(text) > maxText || redact.Text(string(text)) != string(text)
}

// inTool adds the environment files in the folder of a tool and in folders of it.
func (f *Found) inTool(r *os.Root, at string, left *int) {
	if info, err := r.Lstat(at); err != nil || !info.IsDir() {
		return
	}
	dir, err := openFolder(r, at)
	if err != nil {
		f.close(at)
		return
	}
	defer dir.Close()
	entries, whole := list(dir)
	if !whole {
		f.close(at)
	}
	for _, e := range entries {
		switch sub := path.Join(at, e.Name()); {
		case known().env(e.Name()):
			f.Env = append(f.Env, sub)
		case e.IsDir():
			if *left--; *left >= 0 {
				f.inTool(r, sub, left)
			}
		}
	}
}
