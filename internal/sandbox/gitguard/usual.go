package gitguard

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Usual reports whether a change is one that git makes when a worktree or a submodule
// comes or goes, and that makes nothing run: a new worktree that leads back to its own
// repository, one that was removed as a whole, harmless settings in .gitmodules.
func (c Change) Usual() bool {
	at := cmpState(c)
	switch {
	case c.Class == GitPointer && path.Base(path.Dir(path.Dir(at.rel))) == "worktrees":
		return c.usualPointer()
	case c.Class == GitFolder && c.Event == Removed && c.was.mode.IsRegular():
		return c.folderGone()
	case c.Class == ToolFile && path.Base(at.rel) == ".gitmodules":
		return c.usualModules()
	}
	return false
}

// usualPointer: "commondir" of a worktree leads to the repository that it is in, whose
// settings and hooks are guarded. "gitdir" only names a folder, for the list of worktrees;
// one outside is left to the user.
func (c Change) usualPointer() bool {
	switch {
	case c.Event == Removed:
		return c.folderGone()
	case !c.is.mode.IsRegular() || !c.is.whole:
		return false
	}
	to := strings.TrimSuffix(string(c.New), "\n")
	if path.Base(c.is.rel) == "commondir" {
		return to == "../.."
	}
	to = from(filepath.Dir(c.Path), to)
	return printable(to) && filepath.Base(to) == ".git" && isBelow(to, c.is.root)
}

// folderGone reports whether the folder of what was removed is gone as well.
func (c Change) folderGone() bool {
	_, err := os.Lstat(filepath.Dir(c.Path))
	return errors.Is(err, fs.ErrNotExist)
}

// usualModules: git takes the settings of a submodule from it, and refuses programs there.
func (c Change) usualModules() bool {
	if c.Event != Removed && (!c.is.mode.IsRegular() || !c.is.whole) {
		return false
	}
	_, suspicious := c.judge(c.Old, c.New)
	for _, k := range suspicious {
		if !strings.HasPrefix(k.Name, "submodule.") || !strings.HasSuffix(k.Name, ".path") {
			return false
		}
		for _, v := range k.New {
			if !printable(v) || v[:min(1, len(v))] == "-" || !filepath.IsLocal(v) {
				return false
			}
		}
	}
	is, err := parse(c.New)
	for _, e := range is {
		if !strings.HasPrefix(e.name, "submodule.") {
			return false
		}
	}
	return err == nil
}
