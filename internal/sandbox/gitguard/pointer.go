package gitguard

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// gitFolder is a folder that git takes for a repository, or for a part of one.
type gitFolder struct {
	path    string // absolute
	outside bool
	tree    string // the work tree of its index, relative to the root; "" if it is not known
}

// repository adds the repository of a folder, if there is one.
func (f *Found) repository(r *os.Root, dir, name string) {
	at := path.Join(dir, name)
	info, err := r.Lstat(at)
	if f.entries[path.Join("/", dir)+"/"+name] || gone(err) || name == "." && err == nil && !info.IsDir() {
		return
	}
	f.entries[path.Join("/", dir)+"/"+name] = true
	out := Repo{Dir: dir, Name: name}
	own := filepath.Join(f.Root, at) // where git begins
	switch {
	case name == ".":
		out.Form, out.Git = Bare, own
	case err != nil || info.IsDir(): // one that cannot be looked at now is still that
		out.Git = own
	case info.Mode()&os.ModeSymlink != 0:
		out.Form = Link
		if own, err = filepath.EvalSymlinks(own); err == nil && isBelow(own, f.Root) {
			out.Git = common(own)
		}
	default:
		out.Form = File
		own, out.Git, out.Outside = follow(r, f.Root, at)
	}
	if !out.Outside && !isBelow(out.Git, f.Root) {
		out.Git = "" // what is here leads out
	}
	f.Repos = append(f.Repos, out)
	switch {
	case out.Outside:
		f.gits = append(f.gits, gitFolder{own, true, dir}, gitFolder{path: out.Git, outside: true})
	case own != "" && isBelow(own, f.Root):
		f.gits = append(f.gits, gitFolder{path: own, tree: dir})
		if shared := common(own); shared != own && isBelow(shared, f.Root) {
			f.gits = append(f.gits, gitFolder{path: shared})
		}
	}
}

// follow returns the folder that a file .git names, and the one whose configuration git
// obeys then. A target outside must say that it belongs to this file: a command could
// make one that names any repository of the user.
func follow(r *os.Root, root, at string) (own, git string, outside bool) {
	f, err := r.OpenFile(at, os.O_RDONLY|waitless, 0)
	if err != nil {
		return "", "", false
	}
	defer f.Close()
	file := filepath.Join(root, at)
	target, ok := strings.CutPrefix(short(f), "gitdir: ")
	if !ok {
		return "", "", false
	}
	target, err = filepath.EvalSymlinks(from(filepath.Dir(file), target))
	if err != nil {
		return "", "", false
	}
	if isBelow(target, root) {
		return target, common(target), false // it can be written as it is
	}
	back, err := pointer(filepath.Join(target, "gitdir"))
	if err != nil {
		return "", "", false
	}
	if back, err = filepath.EvalSymlinks(from(target, back)); err != nil || back != file {
		return "", "", false
	}
	git = common(target)
	// A worktree's folder is below that of its repository. Anything else could name one
	// that belongs to somebody else.
	if filepath.Dir(target) != filepath.Join(git, "worktrees") {
		return "", "", false
	}
	return target, git, true
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
