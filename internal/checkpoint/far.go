package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
)

// farContents are contents of which those of files are in a place; the lists of folders and
// merged texts are in packs of the mirror.
type farContents struct {
	*object.Store
	ctx    context.Context // of the call that opened the workspace
	box    *away.Workspace
	copy   *mirror
	index  map[object.Hash]away.Content
	size   int64
	got    map[object.Hash][]byte // that were fetched; nil is damaged
	copied []*away.Copied         // not committed
	ready  []*away.Copied         // to be published
}

// adopt notes that the place has a content.
func (f *farContents) adopt(c away.Content) {
	if _, ok := f.index[c.Hash]; !ok {
		f.index[c.Hash] = c
		f.size += c.Size
	}
}

// Has reports whether a content is stored.
func (f *farContents) Has(h object.Hash) bool {
	_, ok := f.index[h]
	return ok || f.Store.Has(h)
}

// Read returns a content, from the place if it must.
func (f *farContents) Read(h object.Hash) ([]byte, error) {
	c, ok := f.index[h]
	if !ok || f.Store.Has(h) {
		return f.Store.Read(h)
	}
	if _, tried := f.got[h]; !tried {
		if err := f.load(f.ctx, []away.Content{c}); err != nil {
			return nil, err
		}
	}
	if f.got[h] == nil {
		return nil, object.ErrDamaged
	}
	return f.got[h], nil
}

// load fetches contents.
func (f *farContents) load(ctx context.Context, list []away.Content) error {
	if len(list) == 0 {
		return nil
	}
	got, err := f.box.Contents(ctx, list)
	if err != nil {
		return err
	}
	for _, c := range list {
		f.got[c.Hash] = got[c.Hash]
	}
	return nil
}

// Commit makes what was added last, when the mirror is published.
func (f *farContents) Commit() error {
	for _, c := range f.copied {
		f.ready = append(f.ready, c) // also if only to remove it
		name, text, ok := c.Index()
		if !ok {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.copy.path(name)), 0o700); err != nil {
			return err
		}
		if err := atomicfile.Write(f.copy.path(name), text, atomicfile.Options{}); err != nil {
			return err
		}
	}
	f.copied = nil
	return f.Store.Commit()
}

// discardTime bounds the removal of copies that are not needed.
const discardTime = 20 * time.Second

// Close forgets what was not committed or not published.
func (f *farContents) Close() error {
	if left := append(f.copied, f.ready...); slices.ContainsFunc(left, (*away.Copied).Made) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), discardTime)
		defer cancel()
		f.box.Discard(ctx, left) // what is left is removed at the next use
	}
	return f.Store.Close()
}

// Size returns the bytes of all contents.
func (f *farContents) Size() int64 { return f.size + f.Store.Size() }

// Sweep forgets the contents that keep does not want; they are removed when the mirror is
// published.
func (f *farContents) Sweep(ctx context.Context, keep func(object.Hash) bool) error {
	if err := f.Store.Sweep(ctx, keep); err != nil {
		return err
	}
	for _, name := range f.copy.names() {
		if !strings.HasSuffix(name, ".index") {
			continue
		}
		data, err := os.ReadFile(f.copy.path(name))
		if err != nil {
			return err
		}
		var live, dead []away.Content
		for _, c := range away.DecodeIndex(name, data) {
			if keep(c.Hash) {
				live = append(live, c)
			} else {
				dead = append(dead, c)
			}
		}
		switch {
		case len(live) == 0:
			err = os.Remove(f.copy.path(name)) // its contents go with it
		case len(dead) > 0:
			err = atomicfile.Write(f.copy.path(name), away.EncodeIndex(live), atomicfile.Options{})
		}
		if err != nil {
			return err // what an index still lists must stay
		}
		for _, c := range dead {
			if len(live) > 0 {
				f.copy.drop = append(f.copy.drop, c.At)
			}
			if f.index[c.Hash].At == c.At {
				f.size -= c.Size
				delete(f.index, c.Hash)
			}
		}
	}
	return nil
}

// listTime bounds a look at the lists of a place.
const listTime = time.Minute

// workspacesAway is Workspaces for a place.
func (s *Store) workspacesAway() ([]Workspace, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTime)
	defer cancel()
	p, err := s.there.find(ctx, s.cfg.Place)
	if err != nil {
		return nil, err
	}
	all, err := p.All(ctx)
	if err != nil {
		return nil, err
	}
	var out []Workspace
	for _, k := range all {
		w := s.workspaceOf(p, k)
		if len(w.Snapshots)+len(w.Damaged) > 0 {
			out = append(out, w)
		}
	}
	sortBy(out, func(w Workspace) string { return w.Folder })
	return out, nil
}

func (s *Store) workspaceOf(p *away.Place, k away.Kept) Workspace {
	at := p.Folder + "/w-" + k.ID
	l, err := decodeList(at+"/"+listName, k.List)
	if err != nil {
		return Workspace{Folder: at, Damaged: []string{listName}}
	}
	return Workspace{Folder: l.Folder, Size: k.Size, Head: l.Head, Snapshots: l.Snapshots}
}

// listAway is List for a place.
func (s *Store) listAway(dir string) (Workspace, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTime)
	defer cancel()
	real, err := s.resolve(ctx, dir)
	if err != nil {
		return Workspace{}, err
	}
	k, err := s.there.place.One(ctx, idOf(real))
	if err != nil || k.ID == "" {
		return Workspace{Folder: real}, err
	}
	w := s.workspaceOf(s.there.place, k)
	if len(w.Damaged) > 0 {
		return Workspace{}, errors.New("the list of checkpoints in " + w.Folder + " is damaged; remove its folder to start again")
	}
	w.Folder = real
	return w, nil
}

// nearestAway is Nearest for a place.
func (s *Store) nearestAway(dir string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), listTime)
	defer cancel()
	at, err := s.resolve(ctx, dir)
	if err != nil {
		return dir, false
	}
	all, err := s.there.place.All(ctx)
	if err != nil {
		return dir, false
	}
	has := map[string]bool{}
	for _, k := range all {
		w := s.workspaceOf(s.there.place, k)
		has[k.ID] = len(w.Snapshots)+len(w.Damaged) > 0
	}
	for !has[idOf(at)] {
		if at == "/" {
			return dir, false
		}
		at = at[:max(strings.LastIndexByte(at, '/'), 1)]
		if at != "/" {
			at = strings.TrimSuffix(at, "/")
		}
	}
	return at, true
}

// allIDs returns the names of all workspaces.
func (s *Store) allIDs(ctx context.Context) ([]string, error) {
	if !s.away() {
		return s.ids()
	}
	sizes, err := s.sizesAway(ctx)
	return slices.Sorted(maps.Keys(sizes)), err
}

// size returns the bytes of all that is kept.
func (s *Store) size(ctx context.Context) int64 {
	if !s.away() {
		return sizeOf(s.cfg.Folder)
	}
	sizes, _ := s.sizesAway(ctx) // what is not known is not pruned
	var sum int64
	for _, n := range sizes {
		sum += n
	}
	return sum
}

func (s *Store) sizesAway(ctx context.Context) (map[string]int64, error) {
	p, err := s.there.find(ctx, s.cfg.Place)
	if err != nil {
		return nil, err
	}
	all, err := p.All(ctx)
	sizes := map[string]int64{}
	for _, k := range all {
		sizes[k.ID] = k.Size
	}
	return sizes, err
}

// Reach asks the place of a store whether checkpoints can be kept there. ErrUnable says what it
// lacks. Without a place it does nothing.
func (s *Store) Reach(ctx context.Context) error {
	if !s.away() {
		return nil
	}
	_, err := s.there.find(ctx, s.cfg.Place)
	return err
}

// Rel returns an absolute path as one in a folder of snapshots, as the function [Rel] does, also if that is
// in a place.
func (s *Store) Rel(ctx context.Context, folder, at string) (rel string, ok bool, err error) {
	if !s.away() {
		rel, ok = Rel(folder, at)
		return rel, ok, nil
	}
	if folder, err = s.resolve(ctx, folder); err != nil {
		return "", false, err
	}
	at = path.Clean(at)
	root, rel, err := s.Root(ctx, folder, path.Dir(at)) // the path itself may be a link
	if err != nil {
		return "", false, err
	}
	at = path.Join(root, rel, path.Base(at))
	switch rest, in := strings.CutPrefix(at, strings.TrimSuffix(folder, "/")+"/"); {
	case at == folder:
		return ".", true, nil
	case in:
		return rest, true, nil
	}
	return "", false, nil
}

// Exists reports whether something is at a path of a folder of snapshots. The path, which is in the folder
// and with slashes, may be a link that leads nowhere.
func (s *Store) Exists(ctx context.Context, folder, rel string) (bool, error) {
	if s.away() {
		p, err := s.there.find(ctx, s.cfg.Place)
		if err != nil {
			return false, err
		}
		return p.Exists(ctx, path.Join(folder, rel))
	}
	_, err := os.Lstat(filepath.Join(folder, filepath.FromSlash(rel)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Root returns the folder that a snapshot is made of for changes at a path of the place, and the
// path in it: work if the path is in that, else the folder of the nearest repository above, else
// the path's own folder or what of it exists. It is for stores with a Place.
func (s *Store) Root(ctx context.Context, work, at string) (root, rel string, err error) {
	p, err := s.there.find(ctx, s.cfg.Place)
	if err != nil {
		return "", "", err
	}
	root, rel, err = p.Root(ctx, work, at)
	if err == nil {
		s.there.know(root)
	}
	return root, rel, err
}
