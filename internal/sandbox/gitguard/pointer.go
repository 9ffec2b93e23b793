package gitguard

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// repo describes the repository of a folder that has an entry .git.
func repo(r *os.Root, root, rel, name string) Repo {
	at := path.Join(rel, name)
	out := Repo{Dir: rel, Name: name}
	info, err := r.Lstat(at)
	switch {
	case err != nil:
		return out
	case info.IsDir():
		out.Git = filepath.Join(root, at)
	case info.Mode()&os.ModeSymlink != 0:
		out.Form = Link
		if to, err := filepath.EvalSymlinks(filepath.Join(root, at)); err == nil && isBelow(to, root) {
			out.Git = to
		}
	default:
		out.Form = File
		out.Git, out.Outside = follow(r, root, at)
	}
	return out
}

// follow returns the folder whose configuration git obeys for a file .git. The target
// must say that it belongs to this file: a command could make one that names any
// repository of the user.
func follow(r *os.Root, root, at string) (git string, outside bool) {
	f, err := r.OpenFile(at, os.O_RDONLY|waitless, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	file := filepath.Join(root, at)
	target, ok := strings.CutPrefix(short(f), "gitdir: ")
	if !ok {
		return "", false
	}
	target, err = filepath.EvalSymlinks(from(filepath.Dir(file), target))
	if err != nil {
		return "", false
	}
	if isBelow(target, root) {
		return common(target), false // it can be written as it is
	}
	back, err := pointer(filepath.Join(target, "gitdir"))
	if err != nil {
		return "", false
	}
	if back, err = filepath.EvalSymlinks(from(target, back)); err != nil || back != file {
		return "", false
	}
	git = common(target)
	// A worktree's folder is below that of its repository. Anything else could name one
	// that belongs to somebody else.
	if filepath.Dir(target) != filepath.Join(git, "worktrees") {
		return "", false
	}
	return git, true
}

// common returns the folder that holds the configuration and hooks of a git folder.
func common(git string) string {
	to, err := pointer(filepath.Join(git, "commondir"))
	if err != nil {
		return git
	}
	if to, err = filepath.EvalSymlinks(from(git, to)); err != nil {
		return git
	}
	return to
}

// pointer reads a file that holds a path.
func pointer(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|waitless, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return short(f), nil
}

// short returns the text of a file of one line.
func short(f *os.File) string {
	const most = 8 << 10
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(f, most))
	return strings.TrimRight(string(text), "\r\n")
}

func from(dir, to string) string {
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(dir, to)
}

func isBelow(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}
