package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
)

// Pruned is what Prune removed.
type Pruned struct {
	Snapshots int   `json:"snapshots"`
	Freed     int64 `json:"freed"` // bytes
	Size      int64 `json:"size"`  // bytes of the store now
	Due       bool  `json:"-"`     // false if PruneIfDue had nothing to do yet
	// Busy are workspaces that another process or machine works on; they were not touched.
	Busy []string `json:"busy,omitempty"`
}

// Prune removes what the limits do not allow: of each workspace the oldest snapshots over the
// number, those that are too old, and then the oldest of all until the store is small enough.
// The newest one of all is removed by age only.
func (s *Store) Prune(ctx context.Context) (Pruned, error) {
	ids, err := s.allIDs(ctx)
	if err != nil {
		return Pruned{}, err
	}
	before := s.size(ctx)
	var p Pruned
	var errs []error
	for _, id := range ids {
		n, err := s.pruneOne(ctx, id, func(w *workspace) int { return w.expire() })
		p.count(id, n, err, &errs)
	}
	for s.cfg.Limits.TotalSize > 0 && s.size(ctx) > s.cfg.Limits.TotalSize && ctx.Err() == nil {
		id := s.oldest()
		if id == "" {
			break
		}
		n, err := s.pruneOne(ctx, id, func(w *workspace) int {
			first := w.list.Snapshots[0].ID
			return w.list.drop(func(sn Snapshot) bool { return sn.ID == first })
		})
		p.count(id, n, err, &errs)
		if n == 0 {
			break
		}
	}
	p.Size = s.size(ctx)
	p.Freed = max(0, before-p.Size)
	return p, errors.Join(append(errs, context.Cause(ctx))...)
}

func (p *Pruned) count(id string, n int, err error, errs *[]error) {
	var process *atomicfile.BusyError
	var machine *away.BusyError
	switch {
	case errors.As(err, &process), errors.As(err, &machine):
		if !slices.Contains(p.Busy, id) {
			p.Busy = append(p.Busy, id)
		}
	case err != nil:
		*errs = append(*errs, err)
	}
	p.Snapshots += n
}

// pruneOne drops snapshots of one workspace and removes what only they needed. It does not
// wait for another process.
func (s *Store) pruneOne(ctx context.Context, id string, drop func(*workspace) int) (int, error) {
	w, err := s.openAt(ctx, filepath.Join(s.cfg.Folder, id), "", "pruning checkpoints", 0, nil)
	if err != nil {
		return 0, err
	}
	defer w.close()
	n := 0
	if len(w.list.Snapshots) > 0 {
		n = drop(w)
	}
	if len(w.list.Snapshots) == 0 {
		w.objects.Close()
		w.objects = nil
		return n, errors.Join(w.ground.remove(ctx), removeIfThere(w.file(listName)), os.RemoveAll(w.at)) // without its list the rest is nothing
	}
	if n > 0 {
		if err := w.saveList(); err != nil {
			return 0, err
		}
	}
	return n, errors.Join(w.sweep(ctx), w.ground.publish(ctx))
}

// expire drops what is too old or too much.
func (w *workspace) expire() int {
	n := 0
	if age := w.store.cfg.Limits.Age; age > 0 {
		since := w.store.cfg.Now().Add(-age)
		n = w.list.drop(func(s Snapshot) bool { return s.Time.Before(since) })
	}
	return n + w.dropOver()
}

// dropOver drops the oldest snapshots over the number. The head stays.
func (w *workspace) dropOver() int {
	over := len(w.list.Snapshots) - w.store.cfg.Limits.Snapshots
	if w.store.cfg.Limits.Snapshots <= 0 || over <= 0 {
		return 0
	}
	head := w.list.Head
	return w.list.drop(func(s Snapshot) bool {
		if over == 0 || s.ID == head {
			return false
		}
		over--
		return true
	})
}

// manyPacks is the number of packs at which small ones are joined: each write of the agent
// makes one, and all are opened each time.
const manyPacks = 100

// trim drops the oldest snapshots over the number after a new one. What they needed stays
// until the next prune, unless the workspace alone takes more than the store may.
func (w *workspace) trim(ctx context.Context) (err error) {
	if w.dropOver() > 0 {
		if err := w.saveList(); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, w.ground.publish(ctx)) }()
	if w.objects.Packs() > manyPacks {
		if err := w.sweep(ctx); err != nil {
			return err
		}
	}
	limit := w.store.cfg.Limits.TotalSize
	for limit > 0 && w.objects.Size() > limit {
		if err := w.sweep(ctx); err != nil || w.objects.Size() <= limit || len(w.list.Snapshots) < 2 {
			return err
		}
		first := w.list.Snapshots[0].ID
		if first == w.list.Head {
			return nil
		}
		w.list.drop(func(s Snapshot) bool { return s.ID == first })
		if err := w.saveList(); err != nil {
			return err
		}
	}
	return nil
}

// oldest returns the workspace with the oldest snapshot, unless that is the only one.
func (s *Store) oldest() string {
	all, err := s.Workspaces()
	if err != nil {
		return ""
	}
	id, snapshots := "", 0
	var first time.Time
	for _, w := range all {
		snapshots += len(w.Snapshots)
		if len(w.Snapshots) > 0 && (id == "" || w.Snapshots[0].Time.Before(first)) {
			id, first = idOf(w.Folder), w.Snapshots[0].Time
		}
	}
	if snapshots < 2 {
		return ""
	}
	return id
}

// sweep removes the contents and moves that no snapshot needs.
func (w *workspace) sweep(ctx context.Context) error {
	if err := w.forget(); err != nil {
		return err
	}
	moves, err := w.moves(0)
	if err != nil {
		return err
	}
	needed, seen := map[object.Hash]bool{}, map[object.Hash]bool{}
	hashesOf(moves, needed)
	for _, s := range w.list.Snapshots {
		if err := w.mark(s.Tree, needed, seen); err != nil {
			return err
		}
	}
	return w.objects.Sweep(ctx, func(h object.Hash) bool { return needed[h] })
}

// mark adds a tree and all that is below it, unless the tree was seen. (That it is needed is
// not enough: a file may have the same bytes.) What is damaged is skipped: it is lost already.
func (w *workspace) mark(tree object.Hash, needed, seen map[object.Hash]bool) error {
	if seen[tree] {
		return nil
	}
	needed[tree], seen[tree] = true, true
	children, err := readTree(w.objects, tree)
	if errors.Is(err, object.ErrDamaged) || errors.Is(err, object.ErrMissing) || errors.Is(err, errTree) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range children {
		switch c.state.Kind {
		case File:
			needed[c.state.Hash] = true
		case Folder:
			if err := w.mark(c.state.Hash, needed, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// retry is after how long a prune that failed, or did not end, is due again.
const retry = time.Hour

// PruneIfDue prunes if that was not done for the interval of the limits.
func (s *Store) PruneIfDue(ctx context.Context) (Pruned, error) {
	stamp := filepath.Join(s.cfg.Folder, "pruned")
	info, err := os.Stat(stamp)
	switch {
	case err == nil && s.cfg.Now().Sub(info.ModTime()) < s.cfg.Limits.Interval:
		return Pruned{}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Pruned{}, err
	}
	if _, err := os.Stat(s.cfg.Folder); errors.Is(err, fs.ErrNotExist) {
		return Pruned{}, nil
	}
	if err := atomicfile.Write(stamp, nil, atomicfile.Options{}); err != nil {
		return Pruned{}, err
	}
	soon := s.cfg.Now().Add(min(0, retry-s.cfg.Limits.Interval))
	if err := os.Chtimes(stamp, soon, soon); err != nil {
		return Pruned{}, err
	}
	p, err := s.Prune(ctx)
	p.Due = true
	if err != nil {
		return p, err
	}
	now := s.cfg.Now()
	return p, os.Chtimes(stamp, now, now)
}
