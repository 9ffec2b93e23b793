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

	"hermes/internal/sandbox/gitguard/notify"
)

// The bounds of a search while the kernel tells what changes. The first walk is made in
// parts: what a command waits for must not be long.
const (
	wideDepth   = 32
	wideFolders = 10_000
	walkTime    = 40 * time.Millisecond
)

// watch knows the folders below a root. The kernel tells it in which ones something was
// made, moved or deleted, so that only those are read again. All snapshots that follow
// each other share one.
type watch struct {
	root    string
	top     stamp
	notify  *notify.Watcher // nil: it broke, and folders are looked at by their stamps
	closed  bool
	folders map[string]watched
	ids     map[int]string  // paths of watched folders
	marked  map[string]bool // folders that hold something that counts
	still   map[string]bool // folders that are not watched: their stamps tell
	shut    map[string]bool // folders that cannot be listed now
	pending []place         // folders of the first walk that were not looked at yet
	most    int             // folders
	full    bool            // there are new ones beyond a bound
}

type watched struct {
	folder
	id    int // 0: not watched
	depth int
}

// place is a folder to look at.
type place struct {
	rel   string
	depth int
}

// newWatch returns nil if the kernel tells nothing here.
func newWatch(root string) *watch {
	n, err := notify.New(root)
	if err != nil {
		return nil
	}
	w := &watch{root: root, notify: n, folders: map[string]watched{}, ids: map[int]string{}, marked: map[string]bool{}, still: map[string]bool{}, shut: map[string]bool{}, pending: []place{{".", 0}}, most: wideFolders}
	if info, err := os.Lstat(root); err == nil {
		w.top = identity(info)
	}
	return w
}

func (w *watch) close() {
	w.closed = true
	w.end()
}

func (w *watch) end() {
	if w.notify != nil {
		w.notify.Close()
		w.notify = nil
	}
}

// update reads folders in which something changed, and all that is new in them. While it is
// quiet the first walk goes on.
func (w *watch) update(r *os.Root, quiet bool) {
	w.changes(r)
	if quiet && len(w.pending) > 0 {
		w.pending = w.walk(r, w.pending, time.Now().Add(walkTime))
	}
}

func (w *watch) changes(r *os.Root) {
	const rounds = 8 // programs may go on to change folders
	for range rounds {
		if info, err := os.Lstat(w.root); w.notify == nil || err != nil || identity(info).inode != w.top.inode || identity(info).device != w.top.device {
			w.rescan(r)
			return
		}
		events, lost := w.notify.Read()
		if lost {
			w.rescan(r)
			return
		}
		if len(events) == 0 && len(w.still)+len(w.shut) == 0 {
			return
		}
		if !w.apply(r, events) {
			return
		}
	}
}

// apply reports whether anything was read.
func (w *watch) apply(r *os.Root, events []notify.Event) bool {
	changed, moved := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		rel, ok := w.ids[e.ID]
		switch {
		case !ok: // it was dropped meanwhile, and read again if it is still there
		case e.Name == "" && rel == ".": // another folder may have its number
			w.rescan(r)
			return false
		case e.Name == "":
			delete(w.ids, e.ID)
			moved[rel], changed[path.Dir(rel)] = true, true
		case e.Folder:
			moved[path.Join(rel, e.Name)], changed[rel] = true, true
		case counts(e.Name):
			changed[rel] = true
		}
	}
	for rel := range w.still {
		was := w.folders[rel]
		if info, err := os.Lstat(filepath.Join(w.root, rel)); err != nil || !was.stamp.holds(stampOf(info, time.Now())) {
			changed[rel] = true
			for _, sub := range was.subs { // another one may have its name
				moved[path.Join(rel, sub)] = true
			}
		}
	}
	for rel := range w.shut { // nothing is told when they are opened again
		changed[rel] = true
	}
	// All that moved is dropped before anything is added: a folder keeps its id.
	for rel := range moved {
		w.drop(rel)
	}
	for rel := range changed {
		w.again(r, rel, moved)
	}
	return len(changed) > 0
}

// counts reports whether a file of this name makes a difference for the folder it is in.
func counts(name string) bool {
	n := known()
	return strings.EqualFold(name, ".git") || n.below[name] != nil || n.tool(name) || n.secret(name) ||
		slices.ContainsFunc([]string{"HEAD", "objects", "refs", "commondir"}, func(part string) bool { return strings.EqualFold(name, part) })
}

// drop forgets a folder and what is below it.
func (w *watch) drop(rel string) {
	f, ok := w.folders[rel]
	if !ok {
		return
	}
	for _, sub := range f.subs {
		w.drop(path.Join(rel, sub))
	}
	if w.ids[f.id] == rel && w.notify != nil {
		w.notify.Remove(f.id)
		delete(w.ids, f.id)
	}
	delete(w.folders, rel)
	delete(w.marked, rel)
	delete(w.still, rel)
	delete(w.shut, rel)
}

// again reads a folder and looks at what is new in it.
func (w *watch) again(r *os.Root, rel string, moved map[string]bool) {
	was, ok := w.folders[rel]
	if !ok {
		return
	}
	seen := was.folder
	seen.stamp = stamp{}
	if seen, ok = look(r, w.root, rel, seen); !ok {
		w.drop(rel)
		return
	}
	for _, sub := range missing(was.subs, seen.subs) {
		at := path.Join(rel, sub)
		if info, err := os.Lstat(filepath.Join(w.root, at)); err == nil && info.IsDir() {
			seen.subs = append(seen.subs, sub) // a folder that is too full to be listed may hide it
		} else {
			w.drop(at)
		}
	}
	w.note(rel, watched{seen, was.id, was.depth})
	for _, sub := range seen.subs {
		// One that was listed before and is not known is not new: it waits, or is beyond a bound.
		if at := path.Join(rel, sub); moved[at] || !slices.Contains(was.subs, sub) {
			w.walk(r, []place{{at, was.depth + 1}}, time.Time{})
		}
	}
}

// missing returns what is in one list and not in another.
func missing(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

func (w *watch) note(rel string, f watched) {
	w.folders[rel] = f
	delete(w.marked, rel)
	delete(w.shut, rel)
	if f.closed {
		w.shut[rel] = true
	}
	if len(f.gits) > 0 || f.bare || len(f.tools)+len(f.below)+len(f.env) > 0 {
		w.marked[rel] = true
	}
}

// walk looks at folders and all below them, until a time if that is not zero. It returns
// those that are left. Without a time they are new, and who makes too many is reported.
func (w *watch) walk(r *os.Root, queue []place, until time.Time) []place {
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if !until.IsZero() && len(w.folders) >= maxFolders && time.Now().After(until) {
			return queue
		}
		if _, ok := w.folders[at.rel]; ok {
			continue
		}
		if at.depth > wideDepth || len(w.folders) >= w.most {
			w.full = w.full || until.IsZero()
			continue
		}
		if _, ok := w.folders[path.Dir(at.rel)]; !ok && at.rel != "." {
			continue // it was moved meanwhile
		}
		seen, ok := w.enter(r, at, folder{})
		if !ok {
			continue
		}
		for _, sub := range seen.subs {
			queue = append(queue, place{path.Join(at.rel, sub), at.depth + 1})
		}
	}
	return nil
}

// enter watches a folder, and reads it after that: what is made in between is told.
func (w *watch) enter(r *os.Root, at place, was folder) (folder, bool) {
	id, err := 0, error(notify.ErrNone)
	if w.notify != nil {
		id, err = w.notify.Add(filepath.Join(w.root, at.rel))
	}
	if errors.Is(err, fs.ErrNotExist) || err != nil && len(w.still) >= maxFolders && w.notify != nil {
		return folder{}, false
	}
	seen, ok := look(r, w.root, at.rel, was)
	if !ok {
		if err == nil {
			w.notify.Remove(id)
		}
		return folder{}, false
	}
	if err != nil {
		id, w.still[at.rel] = 0, true
	} else {
		w.ids[id] = at.rel
	}
	w.note(at.rel, watched{seen, id, at.depth})
	return seen, true
}

// rescan looks at all folders, when it is not known what changed. Those that did not
// change are not read.
func (w *watch) rescan(r *os.Root) {
	w.end()
	if !w.closed {
		w.notify, _ = notify.New(w.root) // nil if it cannot be had now
	}
	if info, err := os.Lstat(w.root); err == nil {
		w.top = identity(info)
	}
	before := w.folders
	w.folders, w.ids, w.marked, w.still = map[string]watched{}, map[int]string{}, map[string]bool{}, map[string]bool{}
	w.shut = map[string]bool{}
	for queue := []place{{".", 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.depth > wideDepth || len(w.folders) >= w.most {
			w.full = true
			continue
		}
		was, known := before[at.rel]
		seen, ok := w.enter(r, at, was.folder)
		if !ok {
			continue
		}
		for _, sub := range append(slices.Clone(seen.subs), missing(was.subs, seen.subs)...) {
			child := path.Join(at.rel, sub)
			if _, ok := before[child]; !ok && known && slices.Contains(was.subs, sub) {
				continue // it waits, or is beyond a bound
			}
			queue = append(queue, place{child, at.depth + 1})
		}
	}
}
