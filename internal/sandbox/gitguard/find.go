package gitguard

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"hermes/internal/order"
)

// The bounds of a search. It is made before a session starts and costs about 10 µs a
// folder; what is deeper is listed in Found.Unlooked.
const (
	maxDepth    = 4
	maxFolders  = 128
	maxNames    = 100_000 // of one folder: only those that count are kept
	maxEntries  = 1024    // of one folder that is restored
	maxUnlooked = 64
	maxPath     = 2048 // bytes of the path of a folder in Found.Closed
)

// Found is what a folder holds that git or other tools obey. Paths are relative to
// Root, with slashes, and sorted.
type Found struct {
	Root  string
	Repos []Repo
	// Tools are files and folders that the user's tools run or obey, as .vscode.
	Tools []string
	// Env are files that hold secrets, such as .env.
	Env []string
	// Closed are folders that could not be read, or not wholly: they may hold anything.
	Closed []string
	// Unlooked are folders that were not looked at, or not wholly: those of package
	// managers, deep ones, and those beyond a bound. "…" is the last of more than 64.
	Unlooked []string

	folders map[string]folder
	entries map[string]bool // of Repos
	gits    []gitFolder
	indexes map[string]index  // by absolute path
	closed  []string          // folders that cannot be listed
	unknown map[string][]byte // indexes that name more than was looked at, and a hash of it
}

// Form says what a repository's own folder is.
type Form int

// The forms of a repository.
const (
	Folder Form = iota // a folder .git
	File               // a file .git, of a worktree or a submodule
	Link               // a link .git
	Bare               // the folder itself is one for git
)

// Repo is one repository.
type Repo struct {
	Dir  string // the folder that it is in; "." is the root
	Name string // of git's own entry there, ".git"; "." if it is bare
	Form Form
	// Git is the folder, absolute, whose configuration and hooks git obeys. It is empty
	// for a link or file that leads out to a repository that does not point back.
	Git string
	// Outside says that Git is not below the root.
	Outside bool
}

// folder is what was seen in one folder.
type folder struct {
	stamp   stamp
	subs    []string // folders in it to look at
	gits    []string // the names of git's entry: ".git", and others that are not the same file
	bare    bool
	tools   []string
	below   []string // folders such as .cargo, some files of which are obeyed
	env     []string
	left    []string // folders in it that are not looked at
	partial bool
	closed  bool // it cannot be listed: the rest is what was seen before
	reached bool // from the root, in the walk that looked at it
}

// Find looks for repositories and files that tools obey, down to a bounded depth and
// number of folders. It follows no link. An error means that the folder itself could
// not be opened.
func Find(root string) (Found, error) {
	r, err := openRoot(root)
	if err != nil {
		return Found{}, err
	}
	defer r.Close()
	return find(r, root, Found{}, nil), nil
}

// find is Find in an open folder. It reads again only folders that are not as they were
// before. What was found before is looked for by its path: who makes many folders or
// files must not be able to hide it.
func find(r *os.Root, root string, before Found, w *watch) Found {
	f := Found{Root: root, folders: map[string]folder{}, entries: map[string]bool{}, indexes: map[string]index{}, unknown: map[string][]byte{}}
	if w != nil {
		for rel := range w.marked {
			f.add(r, rel, w.folders[rel].folder)
		}
		f.closed = slices.Collect(maps.Keys(w.shut))
	} else {
		f.walk(r, before)
		for rel, seen := range f.folders {
			if seen.closed {
				f.closed = append(f.closed, rel)
			}
		}
	}
	for _, repo := range before.Repos {
		f.repository(r, repo.Dir, repo.Name)
	}
	for _, tool := range before.Tools {
		if _, err := r.Lstat(tool); !gone(err) {
			f.Tools = append(f.Tools, tool)
		}
	}
	for _, env := range before.Env {
		if _, err := r.Lstat(env); !gone(err) {
			f.Env = append(f.Env, env)
		}
	}
	f.nested(r, before.indexes)
	order.By(f.Repos, func(a, b Repo) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.Name, b.Name))
	})
	for _, list := range []*[]string{&f.Tools, &f.Env, &f.Closed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return f
}

// walk adds what is in all folders. It looks at those that were not known before as far
// as the bounds allow.
func (f *Found) walk(r *os.Root, before Found) {
	for rel, was := range before.folders {
		if seen, ok := look(r, f.Root, rel, was); ok {
			seen.reached = false
			f.folders[rel] = seen
		}
	}
	reached := 0
	for queue := []place{{".", 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		seen, ok := f.folders[at.rel]
		if !ok {
			if at.depth > maxDepth || len(f.folders) >= maxFolders {
				f.unlooked(at.rel)
				continue
			}
			if seen, ok = look(r, f.Root, at.rel, folder{}); !ok {
				continue
			}
		}
		seen.reached = true
		f.folders[at.rel] = seen
		f.add(r, at.rel, seen)
		reached++
		for _, sub := range seen.subs {
			queue = append(queue, place{path.Join(at.rel, sub), at.depth + 1})
		}
	}
	if reached == len(f.folders) {
		return
	}
	for rel := range before.folders { // those that are not listed any more
		if seen, ok := f.folders[rel]; ok && !seen.reached {
			f.add(r, rel, seen)
		}
	}
}

func (f *Found) unlooked(rel string) {
	switch {
	case len(f.Unlooked) < maxUnlooked:
		f.Unlooked = append(f.Unlooked, rel)
	case len(f.Unlooked) == maxUnlooked:
		f.Unlooked = append(f.Unlooked, "…")
	}
}

// close adds a folder that could not be read. If its path is too long for walls, one above
// it is closed.
func (f *Found) close(rel string) {
	for rel != "." && len(f.Root)+len(rel) >= maxPath {
		rel = path.Dir(rel)
	}
	f.Closed = append(f.Closed, rel)
}

func (f *Found) add(r *os.Root, rel string, seen folder) {
	for _, name := range seen.tools {
		f.Tools = append(f.Tools, path.Join(rel, name))
	}
	for _, name := range seen.below { // what is made in it does not change this folder
		for _, file := range known().in(r, rel, name) {
			f.Tools = append(f.Tools, path.Join(rel, file))
		}
	}
	for _, name := range seen.env {
		f.Env = append(f.Env, path.Join(rel, name))
	}
	left := maxToolFolders
	for _, name := range slices.Concat(seen.tools, seen.below) {
		f.inTool(r, path.Join(rel, name), &left)
	}
	for _, name := range seen.left {
		f.unlooked(path.Join(rel, name))
	}
	if seen.partial {
		f.unlooked(rel)
		f.close(rel)
	}
	for _, name := range seen.gits {
		f.repository(r, rel, name)
	}
	if seen.bare {
		f.repository(r, rel, ".")
	}
}

// look returns what is in a folder: what was seen before if nothing was made, moved or
// deleted in it since. It reports whether there is a folder.
func look(r *os.Root, root, rel string, was folder) (folder, bool) {
	now := time.Now()
	info, err := os.Lstat(filepath.Join(root, rel))
	if gone(err) || err == nil && !info.IsDir() {
		return folder{}, false
	}
	closed := was // what was seen before counts while it cannot be read
	closed.stamp, closed.partial, closed.closed = stamp{}, true, true
	if err != nil {
		return closed, true
	}
	s := stampOf(info, now)
	if was.stamp.holds(s) {
		return was, true
	}
	closed.stamp = s // a change of its mode is told by it
	// Not through r, which would ask for the type of each entry. If a folder above it becomes
	// a link at this moment, names of the outside are seen, which are looked up through r.
	f, err := OpenFolder(filepath.Join(root, rel))
	if err != nil {
		return closed, true
	}
	defer f.Close()
	entries, whole := list(f)
	seen := folder{stamp: s, partial: !whole}
	if seen.partial {
		entries = append(entries, fixed(r, rel)...)
	}
	seen.sort(r, root, rel, entries)
	return seen, true
}

// list reads the entries of a folder that count, and its folders. It reports whether it
// read all of them.
func list(f *os.File) (out []fs.DirEntry, whole bool) {
	for n := 0; n < maxNames; {
		part, err := f.ReadDir(1024)
		n += len(part)
		for _, e := range part {
			if e.IsDir() || counts(e.Name()) {
				out = append(out, e)
			}
		}
		if err != nil {
			return out, err == io.EOF
		}
	}
	return out, false
}

// gone reports whether an error says that nothing is at a path. Any other one says that
// something may be there.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// fixed returns the entries that count and whose names are known, for a folder that is
// too large to be read.
func fixed(r *os.Root, rel string) (out []fs.DirEntry) {
	all := []string{".env", "HEAD", "objects", "refs", "commondir"}
	for name := range known().tools {
		all = append(all, name)
	}
	for name := range known().below {
		all = append(all, name)
	}
	for _, name := range all {
		if info, err := r.Lstat(path.Join(rel, name)); err == nil {
			out = append(out, fs.FileInfoToDirEntry(info))
		}
	}
	return out
}

func (seen *folder) sort(r *os.Root, root, rel string, entries []fs.DirEntry) {
	n := known()
	// By its name, and not from the list: other spellings may be other files.
	git, err := os.Lstat(filepath.Join(root, rel, ".git"))
	switch {
	case err == nil:
		seen.gits = append(seen.gits, ".git")
	case !gone(err): // its names can be listed, and nothing in it can be looked at
		seen.partial = true
	}
	reads := maxDoubtful
	var head, objects, refs, common bool
	for _, e := range entries {
		name := e.Name()
		// git takes a folder for a repository if it has these, whatever they are.
		head = head || !e.IsDir() && strings.EqualFold(name, "HEAD")
		objects = objects || strings.EqualFold(name, "objects")
		refs = refs || strings.EqualFold(name, "refs")
		common = common || strings.EqualFold(name, "commondir")
		if secretIn(r, rel, e, &reads) {
			seen.env = append(seen.env, name)
		}
		switch {
		case strings.EqualFold(name, ".git"):
			if info, err := os.Lstat(filepath.Join(root, rel, name)); err == nil && name != ".git" && !(git != nil && os.SameFile(info, git)) {
				seen.gits = append(seen.gits, name)
			}
		case n.below[name] != nil && e.IsDir(): // anything else is itself what tools follow
			seen.below = append(seen.below, name)
		case n.tool(name) || n.below[name] != nil:
			seen.tools = append(seen.tools, name)
		case n.env(name) || !e.IsDir():
		case skipped(name):
			seen.left = append(seen.left, name)
		default:
			seen.subs = append(seen.subs, name)
		}
	}
	if seen.bare = head && (objects && refs || common); seen.bare {
		// These hold nothing that runs. Other folders may hold another repository.
		inside := func(name string) bool { return slices.Contains([]string{"objects", "refs", "logs"}, name) }
		seen.subs = slices.DeleteFunc(seen.subs, inside)
	}
	for _, list := range []*[]string{&seen.gits, &seen.subs, &seen.tools, &seen.below, &seen.env, &seen.left} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// in returns the files below a folder such as .cargo that tools obey. Others in it may
// be written.
func (n names) in(r *os.Root, rel, name string) (out []string) {
	f, err := openFolder(r, path.Join(rel, name))
	if err != nil {
		return []string{name} // it was replaced, or cannot be read
	}
	defer f.Close()
	list, err := f.Readdirnames(maxNames)
	if len(list) == maxNames || err != nil && err != io.EOF {
		return []string{name}
	}
	for _, file := range list {
		if matchAny(n.below[name], file) {
			out = append(out, name+"/"+file)
		}
	}
	return out
}
