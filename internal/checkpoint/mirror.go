package checkpoint

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
)

// elsewhere is what a store knows of the place that it is for.
type elsewhere struct {
	mu      sync.Mutex
	place   *away.Place
	unable  error             // the place lacks something; that does not change
	real    map[string]string // resolved folders
	ignores map[string]ignoreFile
	listed  map[string]listing // by the folder of the snapshots
}

// A listing is what helps to list a tree again.
type listing struct {
	skip   []string // folders that were left out
	likely []string // files that were written, or had no settled stamp
}

// maxLikely bounds the files that are copied while a tree is listed.
const maxLikely = 50

// An ignoreFile is a .gitignore file that was read.
type ignoreFile struct{ stamp, text string }

func (s *Store) away() bool { return s.cfg.Place != nil }

// find returns the place when it has what is needed.
func (e *elsewhere) find(ctx context.Context, shell away.Shell) (*away.Place, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.place != nil || e.unable != nil {
		return e.place, e.unable
	}
	place, err := away.Find(ctx, shell)
	if errors.Is(err, away.ErrUnable) {
		e.unable = fmt.Errorf("%w: %w", ErrRefused, err)
		return nil, e.unable
	}
	if err == nil {
		e.place, e.real, e.ignores, e.listed = place, map[string]string{}, map[string]ignoreFile{}, map[string]listing{}
	}
	return place, err
}

func (e *elsewhere) resolve(ctx context.Context, shell away.Shell, dir string) (string, error) {
	p, err := e.find(ctx, shell)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	real, ok := e.real[dir]
	e.mu.Unlock()
	if ok {
		return real, nil
	}
	if real, err = p.Resolve(ctx, dir); err == nil {
		e.mu.Lock()
		e.real[dir] = real // whether it still is so is asked each time
		e.mu.Unlock()
	}
	return real, err
}

// know notes that a path of the place is without links.
func (e *elsewhere) know(real string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.real[real] = real
}

func (e *elsewhere) forget(dir string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for d, real := range e.real {
		if real == dir {
			delete(e.real, d)
		}
	}
}

// check refuses folders of the place that are too much for a snapshot.
func (e *elsewhere) check(dir string) error {
	switch {
	case dir == "/":
		return fmt.Errorf("%w: it is the top of the file system", ErrRefused)
	case below(dir, e.place.Home):
		return fmt.Errorf("%w: the home folder is in it; work in a project's folder", ErrRefused)
	case below(e.place.Folder, dir):
		return fmt.Errorf("%w: it is in the folder of the checkpoints", ErrRefused)
	}
	return nil
}

// below reports whether a path of the place is a folder or in it.
func below(folder, p string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

func (e *elsewhere) rules(root string, f away.Entry) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was, ok := e.ignores[root+"/"+f.Path]
	return was.text, ok && was.stamp == f.Stamp
}

func (e *elsewhere) remember(root string, f away.Entry, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ignores[root+"/"+f.Path] = ignoreFile{f.Stamp, text}
}

// before returns what is known of a folder from when it was listed last.
func (e *elsewhere) before(root string) (l listing, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, known = e.listed[root]
	return l, known
}

func (e *elsewhere) after(root string, l listing) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listed[root] = l
}

// written notes files of a folder that the next listing will find changed.
func (e *elsewhere) written(root string, paths []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, known := e.listed[root]
	if !known {
		return
	}
	for _, p := range paths {
		if len(l.likely) < maxLikely && !slices.Contains(l.likely, p) {
			l.likely = append(slices.Clip(l.likely), p)
		}
	}
	e.listed[root] = l
}

// machine names this machine to the place: the same for all programs that share a folder.
func (s *Store) machine() (string, error) {
	path := filepath.Join(s.cfg.Folder, "machine")
	lock, err := atomicfile.Acquire(context.Background(), path, "a checkpoint", patience)
	if err != nil {
		return "", err
	}
	defer lock.Release()
	data, err := os.ReadFile(path)
	if len(data) == 32 {
		return string(data), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	b := make([]byte, 16)
	rand.Read(b) // never fails
	name := hex.EncodeToString(b)
	return name, atomicfile.Write(path, []byte(name), atomicfile.Options{})
}

// enter takes the workspace in the place and brings the small files to this machine. The caller
// holds the lock of this machine.
func (w *workspace) enter(ctx context.Context, wait time.Duration, first asking) error {
	s := w.store
	p, err := s.there.find(ctx, s.cfg.Place)
	if err != nil {
		return err
	}
	if w.dir == "" {
		if w.dir, err = w.listedFolder(ctx, p); err != nil {
			return err
		}
	}
	machine, err := s.machine()
	if err != nil {
		return err
	}
	var question away.Question
	if first != nil {
		question = first(w)
	}
	box, err := p.Open(ctx, filepath.Base(w.at), w.dir, machine, wait, question)
	if errors.Is(err, away.ErrMoved) {
		s.there.forget(w.dir)
	}
	if err != nil {
		return err
	}
	m := &mirror{at: w.at}
	w.unshown = map[object.Hash]bool{}
	w.ground = &there{w: w, box: box, copy: m}
	return m.refresh(ctx, box)
}

// listedFolder returns the folder of a workspace that is only known by its name.
func (w *workspace) listedFolder(ctx context.Context, p *away.Place) (string, error) {
	kept, err := p.One(ctx, filepath.Base(w.at))
	if err != nil {
		return "", err
	}
	l, err := decodeList(p.Folder+"/w-"+kept.ID+"/"+listName, kept.List)
	if err == nil && !strings.HasPrefix(l.Folder, "/") {
		err = errElsewhere
	}
	return l.Folder, err
}

// equip gives the workspace the contents of the place.
func (w *workspace) equip(ctx context.Context, packs *object.Store) {
	t := w.ground.(*there)
	t.objects = &farContents{Store: packs, ctx: ctx, box: t.box, copy: t.copy, index: map[object.Hash]away.Content{}, got: map[object.Hash][]byte{}}
	w.objects = t.objects
	for _, name := range t.copy.names() {
		if data, err := os.ReadFile(t.copy.path(name)); err == nil && strings.HasSuffix(name, ".index") {
			for _, c := range away.DecodeIndex(name, data) {
				t.objects.adopt(c)
			}
		}
	}
}

// A mirror is a folder of this machine with the small files of a workspace elsewhere. The file
// version is there while they are the same.
type mirror struct {
	at      string
	version string                 // "" is not known
	synced  map[string]object.Hash // the files of the place, by name; of packs the name says all
	tail    int64                  // bytes of the ledger there
	drop    []away.Location        // contents that nothing needs
}

func (m *mirror) path(name string) string { return filepath.Join(m.at, filepath.FromSlash(name)) }

// names lists the small files.
func (m *mirror) names() []string {
	var out []string
	for _, pattern := range []string{"contents/*.index", "packs/*.pack", ledgerName, listName, journalName} { // in the order of writing
		found, _ := filepath.Glob(filepath.Join(escapeGlob(m.at), filepath.FromSlash(pattern)))
		for _, f := range found {
			if rel, err := filepath.Rel(m.at, f); err == nil && away.IsSmall(filepath.ToSlash(rel)) {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return out
}

func escapeGlob(p string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

// refresh makes the files those of the place.
func (m *mirror) refresh(ctx context.Context, box *away.Workspace) error {
	was, _ := os.ReadFile(m.path("version"))
	if err := removeIfThere(m.path("version")); err != nil {
		return err
	}
	if box.Version == "" || string(was) != box.Version {
		var files map[string][]byte
		if box.Version != "" {
			var err error
			if files, err = box.Fetch(ctx); err != nil {
				return err
			}
		}
		if err := m.replace(files); err != nil {
			return err
		}
	}
	m.version = box.Version
	var err error
	m.synced, m.tail, err = m.read()
	return err
}

// replace replaces all small files.
func (m *mirror) replace(files map[string][]byte) error {
	for _, name := range m.names() {
		if err := os.Remove(m.path(name)); err != nil {
			return err
		}
	}
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(m.path(name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// read returns what the files are, and the size of the ledger.
func (m *mirror) read() (map[string]object.Hash, int64, error) {
	out := map[string]object.Hash{}
	var tail int64
	for _, name := range m.names() {
		if strings.HasSuffix(name, ".pack") {
			out[name] = object.Hash{}
			continue
		}
		data, err := os.ReadFile(m.path(name))
		if err != nil {
			return nil, 0, err
		}
		out[name] = object.HashOf(data)
		if name == ledgerName {
			tail = int64(len(data))
		}
	}
	return out, tail, nil
}

// publish brings what changed to the place.
func (m *mirror) publish(ctx context.Context, box *away.Workspace, objects *farContents) error {
	is, tail, err := m.read()
	if err != nil {
		return err
	}
	c := away.Change{Keep: objects.ready, Drop: m.drop}
	for _, name := range m.names() {
		was, there := m.synced[name]
		if there && was == is[name] {
			continue
		}
		data, err := os.ReadFile(m.path(name))
		if err != nil {
			return err
		}
		f := away.File{Name: name, Data: data}
		if name == ledgerName && there && m.tail <= tail && object.HashOf(data[:m.tail]) == was {
			f.Append, f.Size, f.Data = true, m.tail, data[m.tail:]
		}
		c.Write = append(c.Write, f)
	}
	for name := range m.synced {
		if _, ok := is[name]; !ok {
			c.Remove = append(c.Remove, name)
		}
	}
	if !slices.ContainsFunc(c.Keep, (*away.Copied).Made) && len(c.Write)+len(c.Remove)+len(c.Drop) == 0 {
		return nil
	}
	version, err := box.Publish(ctx, c)
	if err != nil {
		m.version = ""
		return fmt.Errorf("store the checkpoint in its place: %w", err)
	}
	m.version, m.synced, m.tail, m.drop, objects.ready = version, is, tail, nil, nil
	return nil
}

// close says that the files are those of the place, if they are.
func (m *mirror) close() {
	is, _, err := m.read()
	if err != nil || m.version == "" || len(is) != len(m.synced) {
		return
	}
	for name, h := range is {
		if was, ok := m.synced[name]; !ok || was != h {
			return
		}
	}
	_ = os.WriteFile(m.path("version"), []byte(m.version), 0o600) // without it they are fetched
}

// stamped is what the content of a file was by its stamp.
type stamped struct {
	Stamp string
	Hash  object.Hash
}

// stamps returns what is known of the files of the tree; if that cannot be read, nothing is.
func (m *mirror) stamps() map[string]stamped {
	data, err := os.ReadFile(m.path("scan"))
	if err != nil {
		return nil
	}
	var out map[string]stamped
	if gob.NewDecoder(bytes.NewReader(data)).Decode(&out) != nil {
		return nil
	}
	return out
}

func (m *mirror) saveStamps(stamps map[string]stamped) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(stamps); err != nil {
		return err
	}
	tmp := m.path("scan.tmp")
	if err := os.WriteFile(tmp, b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, m.path("scan"))
}
