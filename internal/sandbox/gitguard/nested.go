package gitguard

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"hermes/internal/sandbox/gitguard/gitindex"
)

// The bounds of a search for nested repositories.
const (
	maxNested = 512      // folders that indexes name as submodules
	maxIndex  = 64 << 20 // bytes of an index
)

// indexSettle is how long an index must have been left alone before it is not read again.
// A program that has it mapped changes its time at the latest when the kernel has written
// it to the disk, which is after half a minute.
const indexSettle = time.Minute

// index is what is remembered of an index.
type index struct {
	stamp stamp
	size  int64
	gitindex.Listing
	unknown []byte // a hash of what is known of one that is not understood
}

// nested looks at the repositories that indexes name as submodules. Who asks git about
// the outer one runs what their configuration says, wherever they are.
func (f *Found) nested(r *os.Root, before map[string]index) {
	left := maxNested
	for i := 0; i < len(f.gits); i++ { // more are found on the way
		git := f.gits[i]
		f.submodules(r, git, filepath.Join(git.path, "index"), f.trees(git), before, &left)
		if git.outside {
			continue // the others belong to folders elsewhere
		}
		for _, name := range worktrees(r, f.Root, git.path) {
			own := filepath.Join(git.path, "worktrees", name)
			if back, err := pointer(filepath.Join(own, "gitdir")); err == nil {
				tree := f.inside(filepath.Dir(from(own, back)))
				f.submodules(r, git, filepath.Join(own, "index"), tree, before, &left)
			}
		}
	}
}

// submodules looks at what one index names, below each of its possible work trees. An
// index that names more than is looked at is noted as unknown.
func (f *Found) submodules(r *os.Root, git gitFolder, at string, trees []string, before map[string]index, left *int) {
	if _, ok := f.indexes[at]; ok {
		return
	}
	is, ok := readIndex(r, f.Root, at, before)
	if !ok {
		return
	}
	f.indexes[at] = is
	if is.unknown != nil {
		f.unknown[at] = is.unknown
		return
	}
	if len(is.Links)+len(is.Sparse) == 0 {
		return
	}
	trees = append(trees, f.configured(r, git.path)...)
	whole := true
	for _, tree := range trees {
		for _, name := range is.Links {
			if *left--; *left < 0 || !filepath.IsLocal(name) {
				whole = false
				break
			}
			f.repository(r, path.Join(tree, name), ".git")
		}
		for _, name := range is.Sparse { // it holds what its tree says, if it is there
			_, err := r.Lstat(path.Join(tree, name))
			whole = whole && gone(err)
		}
	}
	if !whole {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", is.Links, is.Sparse))
		f.unknown[at] = sum[:]
	}
}

// trees are the folders that an index of a git folder may be of.
func (f *Found) trees(git gitFolder) (out []string) {
	if git.tree != "" {
		out = append(out, git.tree)
	}
	if around := filepath.Dir(git.path); filepath.Base(git.path) == ".git" && !git.outside {
		if rel := f.inside(around); len(rel) > 0 && rel[0] != git.tree {
			out = append(out, rel[0])
		}
	}
	return out
}

// configured are the work trees that a configuration names.
func (f *Found) configured(r *os.Root, git string) (out []string) {
	for _, name := range []string{"config", "config.worktree"} {
		text, err := content(r, f.Root, filepath.Join(git, name), maxKept)
		if err != nil {
			continue
		}
		all, _ := parse(text)
		for _, e := range all {
			if e.name == "core.worktree" {
				out = append(out, f.inside(from(git, e.value))...)
			}
		}
	}
	return out
}

// inside returns a folder relative to the root, if it is in there.
func (f *Found) inside(dir string) []string {
	rel, err := filepath.Rel(f.Root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	return []string{filepath.ToSlash(rel)}
}

// worktrees lists the names of worktrees of a git folder.
func worktrees(r *os.Root, root, git string) []string {
	rel, err := filepath.Rel(root, filepath.Join(git, "worktrees"))
	if err != nil {
		return nil
	}
	f, err := r.OpenFile(rel, os.O_RDONLY|waitless, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxInTree)
	return list
}

// readIndex returns what an index names. It reports whether there is one.
func readIndex(r *os.Root, root, at string, before map[string]index) (index, bool) {
	now := time.Now()
	info, err := os.Lstat(at)
	if gone(err) {
		return index{}, false
	}
	if err != nil {
		return index{unknown: []byte(err.Error())}, true
	}
	is := index{stamp: identity(info), size: info.Size()}
	is.stamp.settled = now.Sub(is.stamp.changed) > indexSettle
	if was, ok := before[at]; ok && was.stamp.holds(is.stamp) && was.size == is.size {
		return was, true
	}
	text, err := content(r, root, at, maxIndex)
	if err == nil {
		is.Listing, err = gitindex.Parse(text)
	}
	if err == nil && is.Shared != "" {
		is.stamp.settled = false // the other one may change alone
		var more gitindex.Listing
		if text, err = content(r, root, filepath.Join(filepath.Dir(at), is.Shared), maxIndex); err == nil {
			more, err = gitindex.Parse(text)
		}
		is.Links, is.Sparse = append(is.Links, more.Links...), append(is.Sparse, more.Sparse...)
	}
	if err != nil {
		sum := sha256.Sum256(fmt.Appendf(nil, "%v %v %v %v", info.Mode(), info.ModTime(), info.Size(), is.stamp.changed))
		is.unknown = sum[:]
	}
	return is, true
}

// content reads a regular file that git reads, up to a bound. Below the root no link
// leads out.
func content(r *os.Root, root, at string, most int64) ([]byte, error) {
	open := os.OpenFile
	if rel, err := filepath.Rel(root, at); err == nil && filepath.IsLocal(rel) {
		at, open = rel, r.OpenFile
	}
	f, err := open(at, os.O_RDONLY|waitless, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readUpTo(f, most)
}
