package gitguard

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/order"
)

// Event says what happened to a file.
type Event int

// The events.
const (
	Added Event = iota
	Changed
	Removed
	// NewRepository is a folder that became a repository. Restore does not delete it:
	// it may hold work.
	NewRepository
	// Locked is a folder that the user may not look into any more. Restore opens it: what
	// is in it is in the next snapshot.
	Locked
)

// String returns the event as users read it.
func (e Event) String() string {
	return [...]string{"added", "changed", "removed", "new repository", "locked"}[e]
}

// Change is one difference between two snapshots.
type Change struct {
	Path  string // absolute
	Event Event
	Class Class
	// Old and New are the contents of a regular file, nil if it was none, or too large
	// to be kept.
	Old, New []byte
	// Why says what names the file, if it counts only for that.
	Why string

	was, is state
	known   map[string]state // everything that was there before
	remotes *remotes         // if it is a file that names some
	unknown bool             // what was there before is not known
	partly  bool             // it may have been there before: not everything was looked at
}

// Folder reports whether it is a folder now.
func (c Change) Folder() bool { return c.is.mode.IsDir() }

// File reports whether it is a regular file with one name now.
func (c Change) File() bool { return c.is.mode.IsRegular() && !c.Shared() }

// Shared reports whether it is, or was, a file with several names: what protects one name
// does not protect another.
func (c Change) Shared() bool {
	return c.was.mode.IsRegular() && c.was.inode.names > 1 || c.is.mode.IsRegular() && c.is.inode.names > 1
}

// Undo returns the snapshot as it would be without some of its changes, which Compare
// listed: those that were restored, or will be. Another snapshot after restoring would
// also hold what was changed again meanwhile.
func (s Snapshot) Undo(changes []Change) Snapshot {
	if len(changes) == 0 {
		return s
	}
	s.states, s.locked = maps.Clone(s.states), maps.Clone(s.locked)
	for _, c := range changes {
		of := s.states
		if c.Event == Locked {
			of = s.locked
		}
		if c.was.root == "" {
			delete(of, c.Path)
			continue
		}
		of[c.Path] = c.was
	}
	return s
}

// Shows reports whether what a change led to is still there.
func (s Snapshot) Shows(c Change) bool {
	of := s.states
	if c.Event == Locked {
		of = s.locked
	}
	is, ok := of[c.Path]
	if c.Event == Removed || !ok {
		return c.Event == Removed && !ok
	}
	return c.is.equal(is)
}

// Compare lists what differs from an earlier snapshot of the same folder, sorted so
// that a folder comes before what is in it.
func (s Snapshot) Compare(before Snapshot) []Change {
	var out []Change
	for at, is := range s.states {
		was, ok := before.states[at]
		switch {
		case !ok && is.why != "" && !before.watches(at): // it was not looked at
		case !ok:
			out = append(out, Change{Path: at, Event: eventOf(at, is), Class: is.class, New: is.content, Why: is.why, is: is, partly: before.Full})
		case !was.equal(is):
			out = append(out, Change{Path: at, Event: Changed, Class: is.class, Old: was.content, New: is.content, Why: is.why, was: was, is: is})
		}
	}
	for at, was := range before.states {
		if _, ok := s.states[at]; !ok && was.class != Unseen && (was.why == "" || s.watches(at)) {
			out = append(out, Change{Path: at, Event: Removed, Class: was.class, Old: was.content, Why: was.why, was: was})
		}
	}
	for at, is := range s.locked {
		if was, ok := before.locked[at]; !ok || was.inode != is.inode {
			out = append(out, Change{Path: at, Event: Locked, Class: is.class, was: was, is: is})
		}
	}
	out = append(out, s.newlyNamed(before)...)
	out = append(out, s.bare(before)...)
	for i := range out {
		out[i].known, out[i].remotes = before.states, s.remotes[repositoryOf(out[i].Path)]
	}
	order.By(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// eventOf tells a new repository from a new file.
func eventOf(at string, is state) Event {
	// One that leads where nothing is looked at holds no work, and can be deleted.
	if is.class == GitFolder && !is.lost && strings.EqualFold(filepath.Base(at), ".git") {
		return NewRepository
	}
	return Added
}

// bare lists bare repositories that were none before. They have no entry of their own.
func (s Snapshot) bare(before Snapshot) (out []Change) {
	for _, r := range s.Found.Repos {
		if r.Form == Bare && !slices.ContainsFunc(before.Found.Repos, func(b Repo) bool { return b.Form == Bare && b.Dir == r.Dir }) {
			is := state{root: s.Found.Root, rel: r.Dir, class: GitFolder}
			out = append(out, Change{Path: r.Git, Event: NewRepository, Class: GitFolder, is: is})
		}
	}
	return out
}

// newlyNamed lists what the user's own configuration names only now, in a repository that
// was not there before. Whether it is new itself is not known.
func (s Snapshot) newlyNamed(before Snapshot) (out []Change) {
	for _, n := range s.naming.now {
		is, ok := s.states[n.Path]
		if ok && n.User && is.why != "" && !before.watches(n.Path) {
			out = append(out, Change{Path: n.Path, Event: Added, Class: NamedFile, New: is.content, Why: is.why, is: is, unknown: true})
		}
	}
	return out
}
