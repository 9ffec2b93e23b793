package mount

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kind says what is mounted at a path. At the same path the later one wins.
type kind int

const (
	fresh   kind = iota // an empty file system in memory
	private             // a folder of ours: the private home, the temporary folder
	read                // the host's, read-only
	write               // the host's, writable
	pin                 // what is there already, so that it cannot be moved
	protect             // what is there already, read-only
	hide                // an empty file or folder
)

// entry is one mount.
type entry struct {
	path   string
	kind   kind
	source string // on the host: for private, read and write
	// under is the entry that the path is in; its kind is fresh and its path "/" if
	// that is the new root itself.
	under *entry
}

// creatable reports whether the mount point may be made: never in a folder that
// the user sees, and never to protect or hide what is not there.
func (e *entry) creatable() bool {
	return e.kind != protect && e.kind != hide && e.folder().ours()
}

// folder is the entry whose files surround this one.
func (e *entry) folder() *entry {
	up := e.under
	for up.kind == pin {
		up = up.under
	}
	return up
}

func (e *entry) ours() bool { return e.kind == fresh || e.kind == private }

// check refuses paths that are not absolute and cleaned, and roots that would
// leave the host's system folders writable.
func (r Root) check() error {
	for _, list := range [][]string{r.Read, r.Write, r.Protected, r.Hidden, r.Devices, r.Links, {r.Temp, r.Home, r.PrivateHome}} {
		for _, path := range list {
			if path != "" && (!filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0)) {
				return fmt.Errorf("mount %q: give an absolute path that has no . or .. in it", path)
			}
		}
	}
	for _, path := range append([]string{r.Home}, r.Write...) {
		if path == "/" {
			return fmt.Errorf("mount /: the whole file system cannot be writable; name a folder")
		}
	}
	if r.PrivateHome != "" && r.Home == "" {
		return fmt.Errorf("mount %q: say where the private home is to appear", r.PrivateHome)
	}
	return nil
}

// plan returns the mounts of r in the order in which they are to be made, parents
// first, and what is skipped. top are the names of the folders and files in the
// host's root, which Read "/" means.
func plan(r Root, top []string) ([]*entry, []Problem) {
	wanted, skipped := collect(r, top)
	var entries []*entry
	for e := range nested(wanted) {
		switch drop, why := e.settle(); {
		case why != "":
			skipped = append(skipped, Problem{e.path, why})
			delete(wanted, e.path)
		case drop:
			delete(wanted, e.path)
		default:
			entries = append(entries, e)
		}
	}
	for _, e := range entries {
		for _, folder := range e.pins() {
			if wanted[folder] == nil {
				wanted[folder] = &entry{path: folder, kind: pin}
			}
		}
	}
	return slices.Collect(nested(wanted)), skipped
}

// collect returns one entry for each path.
func collect(r Root, top []string) (map[string]*entry, []Problem) {
	wanted := map[string]*entry{}
	var skipped []Problem
	add := func(path string, k kind, source string) {
		if old := wanted[path]; old == nil || old.kind < k {
			wanted[path] = &entry{path: path, kind: k, source: source}
		}
	}
	for _, path := range []string{"/run", "/tmp", "/var/tmp"} {
		add(path, fresh, "")
	}
	if r.Temp != "" {
		add("/tmp", private, r.Temp)
		add("/var/tmp", private, r.Temp)
	}
	if r.PrivateHome != "" {
		add(r.Home, private, r.PrivateHome)
	}
	for _, path := range []string{"/sys/devices/system", "/sys/fs/cgroup"} {
		add(path, read, path)
	}
	host := func(path string, k kind) {
		if why := madeNew(path); why != "" {
			skipped = append(skipped, Problem{path, why})
			return
		}
		add(path, k, path)
	}
	for _, p := range r.Read {
		if p != "/" {
			host(p, read)
			continue
		}
		for _, name := range top {
			if p := "/" + name; madeNew(p) == "" && p != "/tmp" {
				add(p, read, p)
			}
		}
	}
	for _, path := range r.Write {
		host(path, write)
	}
	for _, path := range r.Protected {
		if e := wanted[path]; e != nil && e.kind == write {
			e.kind = read
			continue
		}
		add(path, protect, "")
	}
	for _, path := range r.Hidden {
		if e := wanted[path]; e != nil && e.ours() {
			continue // the host's is not there
		}
		add(path, hide, "")
	}
	return wanted, skipped
}

// madeNew says why a folder of the host is not mounted, if it is not.
func madeNew(path string) string {
	for _, folder := range []string{"/proc", "/dev"} {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return folder + " is made new in the sandbox"
		}
	}
	if path == "/sys" || path == "/run" {
		return path + " of the host is not mounted as a whole; name what is needed below it"
	}
	return ""
}

// settle decides what becomes of an entry inside another one: it says that nothing
// is to be mounted, and why, if what was asked is not there.
func (e *entry) settle() (drop bool, why string) {
	up := e.under.kind
	readOnly := up == read || up == protect
	switch {
	case up == hide && (e.kind == read || e.kind == write):
		return true, "it is below " + e.under.path + ", which is hidden"
	case up == hide:
		return e.kind != private, ""
	case e.kind == read && up == write:
		e.kind = protect // it is there already; only writing is to be refused
	case e.kind == read:
		return readOnly, ""
	case e.kind == write:
		return up == write, ""
	case e.kind == protect:
		return readOnly, ""
	}
	return false, ""
}

// pins are the folders between an entry and the writable one that it is in. Each
// becomes a mount point: otherwise one could be moved away, and another put in its
// place. The cover of a hidden path would move with it, but the next root is planned
// from where things are then, and might not look there.
func (e *entry) pins() []string {
	if e.under.kind != write && e.under.kind != private {
		return nil
	}
	var folders []string
	for folder := path.Dir(e.path); folder != e.under.path; folder = path.Dir(folder) {
		folders = append(folders, folder)
	}
	return folders
}

// nested yields entries with parents first, and sets what each one is in. An entry
// that the caller deletes from the map meanwhile contains none.
func nested(all map[string]*entry) func(yield func(*entry) bool) {
	return func(yield func(*entry) bool) {
		stack := []*entry{{path: "/", kind: fresh}}
		for _, p := range slices.SortedFunc(maps.Keys(all), byParts) {
			for !below(p, stack[len(stack)-1].path) {
				stack = stack[:len(stack)-1]
			}
			e := all[p]
			e.under = stack[len(stack)-1]
			if !yield(e) {
				return
			}
			if all[p] != nil {
				stack = append(stack, e)
			}
		}
	}
}

// byParts orders paths so that all that is below a folder follows it at once.
func byParts(a, b string) int {
	return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

func below(p, folder string) bool {
	return folder == "/" || strings.HasPrefix(p, folder+"/")
}
