package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
	"hermes/internal/order"
)

// SnapshotOptions say how a snapshot is made. The zero value is an ordinary one.
type SnapshotOptions struct {
	// Include are paths in the folder, with slashes, that are kept although they are ignored
	// or too large: what the caller is about to change.
	Include []string
	// Always makes a snapshot even if nothing changed since the last one, and if this turn of
	// the session has one.
	Always bool
}

// Snapshot makes a snapshot of a folder. made is false, and the result an earlier snapshot,
// if the session's turn has one already or if nothing changed since the last one. It follows
// no link out of the folder. ErrRefused and ErrTooMany mean that the folder is too much.
func (s *Store) Snapshot(ctx context.Context, dir string, m Meta, o SnapshotOptions) (snap Snapshot, made bool, err error) {
	w, err := s.openChecked(ctx, dir, "a checkpoint", forTree)
	if err != nil {
		return Snapshot{}, false, err
	}
	defer w.close()
	return w.once(ctx, m, o)
}

// once makes a snapshot if the turn has none, and drops what that is too much.
func (w *workspace) once(ctx context.Context, m Meta, o SnapshotOptions) (Snapshot, bool, error) {
	if old, ok := w.ofTurn(m); ok && !o.Always {
		return old, false, nil
	}
	snap, _, made, err := w.snapshot(ctx, m, o)
	if err != nil || !made {
		return snap, made, err
	}
	return snap, true, w.trim(ctx)
}

// Prepare is Snapshot and Begin of the same paths in one go.
func (s *Store) Prepare(ctx context.Context, dir string, m Meta, by string, paths []string) (*Writing, error) {
	w, err := s.openChecked(ctx, dir, "a checkpoint", func(w *workspace) away.Question {
		w.list, _ = loadList(w.file(listName)) // as this machine knows it
		if _, has := w.ofTurn(m); has {
			return forPaths(paths)(w)
		}
		return forTree(w)
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	if _, _, err := w.once(ctx, m, SnapshotOptions{Include: paths}); err != nil {
		return nil, err
	}
	return w.begin(ctx, by, paths)
}

// ofTurn returns the snapshot that a turn of a session has.
func (w *workspace) ofTurn(m Meta) (Snapshot, bool) {
	if m.Session == "" || m.Turn == "" {
		return Snapshot{}, false
	}
	i := slices.IndexFunc(w.list.Snapshots, func(s Snapshot) bool { return s.Session == m.Session && s.Turn == m.Turn })
	if i < 0 {
		return Snapshot{}, false
	}
	return w.list.Snapshots[i], true
}

// snapshot makes a snapshot and returns the tree that it read as well. The caller publishes it.
func (w *workspace) snapshot(ctx context.Context, m Meta, o SnapshotOptions) (Snapshot, *node, bool, error) {
	top, err := w.scan(ctx, o.Include)
	if err != nil {
		return Snapshot{}, nil, false, err
	}
	tree, err := top.store(w.objects)
	if err != nil {
		return Snapshot{}, nil, false, err
	}
	if err := w.objects.Commit(); err != nil {
		return Snapshot{}, nil, false, err
	}
	if head, err := w.list.find(w.list.Head); err == nil && !o.Always {
		same, err := w.sameFiles(head, tree, top)
		if err != nil || same {
			return head, top, false, err
		}
	}
	snap := Snapshot{
		Number: w.list.Last + 1, Time: w.store.cfg.Now().UTC(), Meta: m,
		Parent: w.list.Head, Tree: tree, Mode: top.state.Mode, LeftOut: top.summary(),
	}
	snap.Files, snap.Size = top.totals()
	if snap.Moves, err = w.lastMove(); err != nil {
		return Snapshot{}, nil, false, err
	}
	snap.ID = w.newID(snap)
	w.list.Last, w.list.Head = snap.Number, snap.ID
	w.list.Snapshots = append(w.list.Snapshots, snap)
	if err := w.saveList(); err != nil {
		return Snapshot{}, nil, false, err
	}
	return snap, top, true, nil
}

// scan reads the folder into the store, without committing, and keeps the cache.
func (w *workspace) scan(ctx context.Context, include []string) (*node, error) {
	top, err := w.ground.scan(ctx, include)
	if errors.Is(err, ErrTooMany) {
		return nil, fmt.Errorf("%w: it has %w (more than %d); ignored ones do not count", ErrRefused, err, w.store.cfg.Limits.Files)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", w.dir, err)
	}
	return top, nil
}

// sameFiles reports whether a snapshot has the same files as a tree that was read. Whether
// something that is left out came or went does not count.
func (w *workspace) sameFiles(s Snapshot, tree object.Hash, top *node) (bool, error) {
	if s.Tree == tree {
		return s.Mode == top.state.Mode, nil
	}
	same := s.Mode == top.state.Mode
	err := compareTrees(w.objects, s.Tree, tree, func(_ string, a, b State) {
		same = same && !differs(a, b)
	})
	if err != nil { // a damaged list must not prevent new snapshots
		return false, nil
	}
	return same, nil
}

// differs reports whether two states are a change: one that comes or goes by a rule is none.
func differs(a, b State) bool {
	if a.Kind == LeftOut && b.Kind == LeftOut || a.Kind == LeftOut && b.Kind == None || a.Kind == None && b.Kind == LeftOut {
		return false
	}
	if a.Kind == Folder && b.Kind == Folder {
		return a.Mode != b.Mode
	}
	return a != b
}

// newID returns an id that no snapshot of the workspace has.
func (w *workspace) newID(s Snapshot) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %v %d", w.dir, s.Number, s.Tree, s.Time, n))
		id := "c" + hex.EncodeToString(sum[:6])[:9] // not a number, so that it cannot be taken for one
		if _, err := w.list.find(id); err != nil {
			return id
		}
	}
}

// firstNames is how many names of what a rule left out are reported.
const firstNames = 5

func (n *node) summary() []Omitted {
	by := map[Reason]*Omitted{}
	n.omitted("", func(rel string, why Reason) {
		o := by[why]
		if o == nil {
			o = &Omitted{Why: why.String()}
			by[why] = o
		}
		o.Count++
		if len(o.First) < firstNames {
			o.First = append(o.First, rel)
		}
	})
	var out []Omitted
	for _, o := range by {
		out = append(out, *o)
	}
	order.By(out, func(a, b Omitted) int { return cmp.Compare(a.Why, b.Why) })
	return out
}

func (n *node) totals() (files int, size int64) {
	for _, c := range n.below {
		if c.state.Kind == File {
			files++
			size += c.state.Size
		}
		f, s := c.totals()
		files, size = files+f, size+s
	}
	return files, size
}

// List returns the snapshots of a folder, oldest first. Those that cannot be read are an error.
func (s *Store) List(dir string) (Workspace, error) {
	if s.away() {
		return s.listAway(dir)
	}
	real, err := resolve(dir)
	if err != nil {
		return Workspace{}, err
	}
	l, err := loadList(filepath.Join(s.folderOf(real), listName))
	if err != nil {
		return Workspace{}, err
	}
	return Workspace{Folder: real, Head: l.Head, Snapshots: l.Snapshots, Size: sizeOf(s.folderOf(real))}, nil
}
