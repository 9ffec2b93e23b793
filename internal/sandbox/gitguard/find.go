package gitguard

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The bounds of a search. It is made before a session starts and costs about 10 µs a
// folder; what is deeper is listed in Found.Unlooked.
const (
	maxDepth    = 4
	maxFolders  = 128
	maxEntries  = 1024 // of one folder
	maxUnlooked = 64
)

// Found is what a folder holds that git or other tools obey. Paths are relative to
// Root, with slashes, and sorted.
type Found struct {
	Root  string
	Repos []Repo
	// Tools are files and folders that the user's tools run or obey, as .vscode.
	Tools []string
	// Env are environment files that hold secrets.
	Env []string
	// Unlooked are folders that were not looked at, or not wholly: those of package
	// managers, deep ones, and those beyond a bound. "…" is the last of more than 64.
	Unlooked []string

	folders map[string]folder
}

// Form says what a repository's own folder is.
type Form int

// The forms of a repository.
const (
	Folder Form = iota // a folder .git
	File               // a file .git, of a worktree or a submodule
	Link               // a link .git
	Bare               // the folder itself holds HEAD, objects and refs
)

// Repo is one repository.
type Repo struct {
	Dir  string // the folder that it is in; "." is the root
	Name string // of git's own entry there, ".git"; "." if it is bare
	Form Form
	// Git is the folder, absolute, whose configuration and hooks git obeys. It is empty
	// for a link that leads out and for a .git file whose target does not point back.
	Git string
	// Outside says that Git is not below the root.
	Outside bool
}

// folder is what was seen in one folder.
type folder struct {
	stamp   stamp
	subs    []string // folders in it to look at
	git     string   // the name of git's entry
	bare    bool
	tools   []string
	env     []string
	left    []string // folders in it that are not looked at
	partial bool
}

// Find looks for repositories and files that tools obey, down to a bounded depth and
// number of folders. It follows no link. An error means that the folder itself could
// not be opened.
func Find(root string) (Found, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return Found{}, err
	}
	defer r.Close()
	return find(r, root, nil), nil
}

// find is Find in an open folder. It reads again only folders that are not as they
// were before.
func find(r *os.Root, root string, before map[string]folder) Found {
	f := Found{Root: root, folders: map[string]folder{}}
	type place struct {
		rel   string
		depth int
	}
	for queue := []place{{".", 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.depth > maxDepth || len(f.folders) >= maxFolders {
			f.unlooked(at.rel)
			continue
		}
		seen := look(r, root, at.rel, before)
		f.folders[at.rel] = seen
		f.add(r, at.rel, seen)
		for _, sub := range seen.subs {
			queue = append(queue, place{path.Join(at.rel, sub), at.depth + 1})
		}
	}
	slices.SortFunc(f.Repos, func(a, b Repo) int { return strings.Compare(a.Dir, b.Dir) })
	slices.Sort(f.Tools)
	slices.Sort(f.Env)
	return f
}

func (f *Found) unlooked(rel string) {
	switch {
	case len(f.Unlooked) < maxUnlooked:
		f.Unlooked = append(f.Unlooked, rel)
	case len(f.Unlooked) == maxUnlooked:
		f.Unlooked = append(f.Unlooked, "…")
	}
}

func (f *Found) add(r *os.Root, rel string, seen folder) {
	for _, name := range seen.tools {
		f.Tools = append(f.Tools, path.Join(rel, name))
	}
	for _, name := range seen.env {
		f.Env = append(f.Env, path.Join(rel, name))
	}
	for _, name := range seen.left {
		f.unlooked(path.Join(rel, name))
	}
	if seen.partial {
		f.unlooked(rel)
	}
	if seen.git != "" {
		f.Repos = append(f.Repos, repo(r, f.Root, rel, seen.git))
	}
	if seen.bare {
		f.Repos = append(f.Repos, Repo{Dir: rel, Name: ".", Form: Bare, Git: filepath.Join(f.Root, rel)})
	}
}

// look returns what is in a folder: what was seen before if nothing was made, moved or
// deleted in it since.
func look(r *os.Root, root, rel string, before map[string]folder) folder {
	now := time.Now()
	info, err := os.Lstat(filepath.Join(root, rel))
	if err != nil || !info.IsDir() {
		return folder{partial: err != nil && !errors.Is(err, fs.ErrNotExist)}
	}
	s := stampOf(info, now)
	if was, ok := before[rel]; ok && was.stamp.holds(s) {
		return was
	}
	// Not through r, which would ask for the type of each entry. A folder that becomes a
	// link at this moment shows names of the outside, which are looked up through r.
	f, err := os.Open(filepath.Join(root, rel))
	if err != nil {
		return folder{partial: !errors.Is(err, fs.ErrNotExist)}
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	seen := folder{stamp: s, partial: len(entries) == maxEntries || err != nil && len(entries) > 0}
	if seen.partial {
		entries = append(entries, fixed(r, rel)...)
	}
	seen.sort(r, rel, entries)
	return seen
}

// fixed returns the entries that count and whose names are known, for a folder that is
// too large to be read.
func fixed(r *os.Root, rel string) (out []fs.DirEntry) {
	all := []string{".git", ".env", "HEAD", "objects", "refs"}
	for name := range known().tools {
		all = append(all, name)
	}
	for _, name := range all {
		if info, err := r.Lstat(path.Join(rel, name)); err == nil {
			out = append(out, fs.FileInfoToDirEntry(info))
		}
	}
	return out
}

func (seen *folder) sort(r *os.Root, rel string, entries []fs.DirEntry) {
	n := known()
	var head, objects, refs bool
	for _, e := range entries {
		name := e.Name()
		switch {
		case name[0] == '.' && strings.EqualFold(name, ".git"):
			seen.git = name
		case n.below[name] != nil:
			seen.tools = append(seen.tools, n.in(r, rel, name)...)
		case n.tool(name):
			seen.tools = append(seen.tools, name)
		case n.secret(name):
			seen.env = append(seen.env, name)
		case !e.IsDir():
			head = head || name == "HEAD"
		case skipped(name):
			seen.left = append(seen.left, name)
		default:
			objects, refs = objects || name == "objects", refs || name == "refs"
			seen.subs = append(seen.subs, name)
		}
	}
	for _, list := range []*[]string{&seen.subs, &seen.tools, &seen.env, &seen.left} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if seen.bare = head && objects && refs; seen.bare {
		seen.subs = nil // objects and refs hold nothing that runs
	}
}

// in returns the files below a folder such as .cargo that tools obey. Others in it may
// be written.
func (n names) in(r *os.Root, rel, name string) (out []string) {
	f, err := r.Open(path.Join(rel, name))
	if err != nil {
		return []string{name} // a link that leads out
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxEntries)
	for _, file := range list {
		if matchAny(n.below[name], file) {
			out = append(out, name+"/"+file)
		}
	}
	return out
}
