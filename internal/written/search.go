package written

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxEntries bounds how many files and folders are searched for one line.
const maxEntries = 20_000

// gitFiles are in a .git folder and hold nothing that git runs.
var gitFiles = strings.Fields("objects lfs logs refs index HEAD ORIG_HEAD FETCH_HEAD MERGE_HEAD COMMIT_EDITMSG packed-refs description")

// packageFolders are the folders of package managers. They are large, so they come last.
var packageFolders = strings.Fields("node_modules .venv venv site-packages vendor target .tox .nox .gradle .cargo .cache __pycache__ dist build")

// systemFolders belong to the system; no session changes them.
var systemFolders = strings.Fields("/usr /bin /sbin /lib /lib32 /lib64 /opt /nix /proc /sys /dev /etc /boot /snap /System /Library /Applications")

// all takes what the session wrote anywhere, and what was changed in the folders that the
// line uses: which of it will run is not known. Folders that it names come first.
func (f *finder) all() {
	f.search(append(slices.Clone(f.bases[1:]), f.dir))
	f.ownBelow("/")
}

// folders takes what is in the folders that a program of the line may run.
func (f *finder) folders() {
	f.search(f.run)
	for _, dir := range f.run {
		f.ownBelow(dir)
	}
}

// ownBelow takes what the session wrote in a folder with its tools.
func (f *finder) ownBelow(dir string) {
	for _, path := range slices.Sorted(maps.Keys(f.own)) {
		if !below(path, dir) {
			continue
		}
		if info, err := os.Lstat(path); err == nil {
			f.take(path, nearby, info)
		}
	}
}

// search looks through folders, the nearest files first, without following links.
func (f *finder) search(dirs []string) {
	queue := slices.DeleteFunc(slices.Clone(dirs), ofSystem)
	var large []string
	done := map[string]bool{}
	for left := maxEntries; len(queue)+len(large) > 0; {
		if len(queue) == 0 {
			queue, large = large, nil
		}
		dir := queue[0]
		if queue = queue[1:]; done[dir] {
			continue
		}
		done[dir] = true
		entries, err := f.entries(dir, left)
		if err != nil {
			continue
		}
		left -= len(entries)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case filepath.Base(dir) == ".git" && slices.Contains(gitFiles, e.Name()):
			case e.IsDir() && slices.Contains(packageFolders, e.Name()):
				large = append(large, path)
			case e.IsDir():
				queue = append(queue, path)
			case e.Type().IsRegular(), e.Type() == fs.ModeSymlink:
				if info, err := e.Info(); err == nil {
					f.take(path, nearby, info)
				}
			}
		}
	}
}

// entries lists a folder in order, up to a bound.
func (f *finder) entries(dir string, most int) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(most + 1)
	if len(entries) > max(most, 0) {
		f.incomplete = true
		entries = entries[:max(most, 0)]
	}
	if len(entries) == 0 {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// ofSystem reports whether a folder is not worth a search: it is of the system, or all of
// the disk.
func ofSystem(dir string) bool {
	return dir == "/" || slices.ContainsFunc(systemFolders, func(s string) bool { return below(dir, s) })
}

// below reports whether a clean path is a folder or below it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
