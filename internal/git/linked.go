package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Linked is a worktree that was added to a repository.
type Linked struct {
	// Top is its top folder, and Own the folder in the repository that has its state. Links
	// are followed in both.
	Top, Own string
	// Main is the top folder of the repository itself.
	Main string
}

// LinkedAt returns the worktree with a top folder, if that is one and its repository says so as
// well. It runs nothing.
func LinkedAt(top string) (Linked, bool) {
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return Linked{}, false
	}
	own, ok := line(filepath.Join(top, ".git"), "gitdir: ")
	if !ok {
		return Linked{}, false
	}
	if own, err = filepath.EvalSymlinks(from(top, own)); err != nil {
		return Linked{}, false
	}
	back, ok := line(filepath.Join(own, "gitdir"), "")
	if !ok || !same(from(own, back), filepath.Join(top, ".git")) {
		return Linked{}, false
	}
	// Git makes such folders there. Anything else could name the repository of somebody else.
	trees := filepath.Dir(own)
	common := filepath.Dir(trees)
	if filepath.Base(trees) != "worktrees" || filepath.Base(common) != ".git" {
		return Linked{}, false
	}
	if to, ok := line(filepath.Join(own, "commondir"), ""); !ok || !same(from(own, to), common) {
		return Linked{}, false
	}
	return Linked{Top: top, Own: own, Main: filepath.Dir(common)}, true
}

// line returns the text of a small file of one line, without a prefix that it must have.
func line(path, prefix string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 8<<10 {
		return "", false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
}

func from(dir, to string) string {
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(dir, to)
}

// same reports whether two paths name one file. Links in the folders are followed.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
