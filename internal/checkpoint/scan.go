package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/object"
	"hermes/internal/filestamp"
	"hermes/internal/search"
)

// repositories are the names of folders, and of files in place of them, that belong to
// version control systems.
var repositories = map[string]bool{".git": true, ".hg": true, ".svn": true, ".jj": true, ".bzr": true, "_darcs": true, "CVS": true}

// batch is the number of files that one task reads.
const batch = 32

// A scan reads a file tree. It is used once.
type scan struct {
	bounds
	objects  *object.Store
	top      string // the folder, an absolute path
	maxFiles int64
	cache    map[string]*cached
	now      func() time.Time

	files  atomic.Int64
	tasks  queue
	mu     sync.Mutex
	added  map[string]*cached // files that were read and are settled
	failed error
}

// bounds say what is left out of snapshots.
type bounds struct {
	own     string // the folder of the store, an absolute path
	maxSize int64
	include map[string]bool // paths that are read although a rule leaves them out
}

// boundsOf are those of a store, with paths to include and the folders above them.
func boundsOf(own string, l Limits, include []string) bounds {
	b := bounds{own: own, maxSize: l.FileSize, include: map[string]bool{}}
	for _, p := range include {
		for p = path.Clean(p); p != "." && p != "/" && !b.include[p]; p = path.Dir(p) {
			b.include[p] = true
		}
	}
	return b
}

// leaves returns the rule by which a path is left out, 0 if it is not. abs is the path with
// that of the folder before it.
func (b *bounds) leaves(rel, abs string, mode fs.FileMode, size int64, ignored bool) Reason {
	switch {
	case repositories[path.Base(rel)]:
		return Repository
	case b.own == abs:
		return OwnStore
	case ignored && !b.include[rel]:
		return Ignored
	case mode.IsDir() || mode&fs.ModeSymlink != 0:
		return 0
	case !mode.IsRegular():
		return Special
	case b.maxSize > 0 && size > b.maxSize && !b.include[rel]:
		return TooLarge
	}
	return 0
}

// A node is a file or folder that was found.
type node struct {
	child
	below []*node // sorted, of a folder
}

// ErrTooMany means that a folder has more files than snapshots are made of.
var ErrTooMany = errors.New("too many files")

// run reads the tree and returns its top.
func (s *scan) run(ctx context.Context) (*node, error) {
	root, err := atomicfile.OpenFolder(s.top, false)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	s.added = map[string]*cached{}
	top := &node{child: child{state: State{Kind: Folder, Mode: rights(info.Mode())}}}
	s.tasks.ready.L = &s.tasks.mu
	here := &handle{root: root}
	here.users.Store(1)
	s.tasks.push(func() { s.folder(ctx, here, top, place{rules: search.IgnoreAbove(s.top)}) })
	var workers sync.WaitGroup
	for range max(runtime.GOMAXPROCS(0), 2) {
		workers.Go(s.tasks.work)
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.failed != nil {
		return nil, s.failed
	}
	if top.state.Kind != Folder {
		return nil, fmt.Errorf("list the folder: %w", fs.ErrPermission)
	}
	return top, nil
}

// fail ends the scan with an error.
func (s *scan) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
}

func (s *scan) over(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil || ctx.Err() != nil
}

// A place is what a folder inherits from those above it.
type place struct {
	rel   string // "" at the top
	rules search.Ignore
	// only means that the folder is ignored and only what is included is read.
	only bool
}

// folder lists an open folder and makes tasks for what is in it. It drops the handle.
func (s *scan) folder(ctx context.Context, here *handle, n *node, at place) {
	defer here.drop()
	if s.over(ctx) {
		return
	}
	names, err := here.names()
	if err != nil {
		n.state = leftOut(Unreadable)
		return
	}
	dir, prefix := filepath.Join(s.top, filepath.FromSlash(at.rel)), ""
	if at.rel != "" {
		prefix = at.rel + "/"
	}
	if slices.Contains(names, ".gitignore") {
		at.rules = at.rules.With(dir, here.small(".gitignore"))
	}
	var read []*node
	for _, name := range names {
		info, err := here.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c := &node{child: child{name: name}}
		n.below = append(n.below, c)
		below, abs := prefix+name, filepath.Join(dir, name)
		ignored := at.only || err == nil && at.rules.Match(abs, info.IsDir())
		var why Reason
		if err == nil {
			why = s.leaves(below, abs, info.Mode(), info.Size(), ignored)
		}
		switch {
		case err != nil:
			c.state = leftOut(Unreadable)
		case why != 0:
			c.state = leftOut(why)
		case info.IsDir():
			s.enter(ctx, here, c, info, place{below, at.rules, ignored})
		case info.Mode()&fs.ModeSymlink != 0:
			c.state = s.link(here, name)
		default:
			if c.state = s.known(below, info); c.state.Kind == None {
				read = append(read, c)
			}
		}
		if c.state.Kind != LeftOut && s.files.Add(1) > s.maxFiles {
			s.fail(ErrTooMany)
			return
		}
	}
	for part := range slices.Chunk(read, batch) {
		here.keep()
		s.tasks.push(func() {
			defer here.drop()
			for _, c := range part {
				if s.over(ctx) {
					return
				}
				if err := s.read(here, c, prefix+c.name); err != nil {
					s.fail(err)
				}
			}
		})
	}
}

func leftOut(why Reason) State { return State{Kind: LeftOut, Why: why} }

// enter makes the task of a folder below.
func (s *scan) enter(ctx context.Context, here *handle, c *node, info fs.FileInfo, at place) {
	c.state = State{Kind: Folder, Mode: rights(info.Mode())}
	here.keep()
	s.tasks.push(func() {
		defer here.drop()
		sub, err := here.sub(c.name, info)
		if err != nil {
			c.state = leftOut(Unreadable)
			return
		}
		below := &handle{root: sub}
		below.users.Store(1)
		s.folder(ctx, below, c, at)
	})
}

func (s *scan) link(here *handle, name string) State {
	target, err := here.root.Readlink(name)
	if err != nil {
		return leftOut(Unstable)
	}
	return State{Kind: Link, Target: target}
}

// known returns the state of a file that is as it was at the last scan, or none.
func (s *scan) known(rel string, info fs.FileInfo) State {
	c, ok := s.cache[rel]
	if !ok || c.stamp != filestamp.Of(info) || !s.objects.Has(c.hash) {
		return State{}
	}
	c.seen = true // no other task looks at this file
	return State{Kind: File, Mode: rights(info.Mode()), Size: info.Size(), Hash: c.hash}
}

// next returns the cache after the scan, for which that of before is used up, and whether it is
// another one.
func (s *scan) next() (entries map[string]*cached, changed bool) {
	entries = s.cache
	if entries == nil {
		entries = map[string]*cached{}
	}
	for rel, c := range entries {
		if !c.seen {
			delete(entries, rel)
			changed = true
		}
	}
	maps.Copy(entries, s.added)
	return entries, changed || len(s.added) > 0
}

// tries is how often a file that changes while it is read is read again.
const tries = 3

// read stores the content of a file. What fails on this file leaves it out; an error is one
// of the store.
func (s *scan) read(here *handle, c *node, rel string) error {
	for range tries {
		state, entry, settled, err := s.once(here, c.name)
		switch {
		case errors.Is(err, object.ErrChanged):
			continue
		case errors.Is(err, errRead):
			c.state = leftOut(Unreadable)
			return nil
		case err != nil:
			return fmt.Errorf("store %s: %w", rel, err)
		}
		c.state = state
		if settled {
			s.mu.Lock()
			s.added[rel] = &entry
			s.mu.Unlock()
		}
		return nil
	}
	c.state = leftOut(Unstable)
	return nil
}

var errRead = errors.New("the file cannot be read")

// once reads a file one time. The error is object.ErrChanged if it changed meanwhile.
func (s *scan) once(here *handle, name string) (state State, entry cached, settled bool, err error) {
	start := s.now()
	f, err := atomicfile.OpenFile(here.root, name)
	if err != nil {
		return State{}, cached{}, false, errRead
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil || !before.Mode().IsRegular() {
		return State{}, cached{}, false, errRead
	}
	from := &source{f: f}
	hash, size, err := s.objects.AddFrom(from)
	if from.failed {
		return State{}, cached{}, false, errRead
	}
	if err != nil {
		return State{}, cached{}, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return State{}, cached{}, false, errRead
	}
	stamp := filestamp.Of(before)
	if stamp != filestamp.Of(after) || size != before.Size() {
		return State{}, cached{}, false, object.ErrChanged
	}
	return State{Kind: File, Mode: rights(before.Mode()), Size: size, Hash: hash}, cached{stamp: stamp, hash: hash}, stamp.Settled(start), nil
}

// source remembers that the file failed, which is no error of the store.
type source struct {
	f      *os.File
	failed bool
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.f.Read(p)
	if err != nil && !isEOF(err) {
		s.failed = true
	}
	return n, err
}

func (s *source) Seek(offset int64, whence int) (int64, error) { return s.f.Seek(offset, whence) }

// store stores the trees of a node and those below, and returns the hash of its own.
func (n *node) store(objects contents) (object.Hash, error) {
	children := make([]child, len(n.below))
	for i, c := range n.below {
		children[i] = c.child
		if c.state.Kind == Folder {
			hash, err := c.store(objects)
			if err != nil {
				return object.Hash{}, err
			}
			children[i].state.Hash = hash
		}
	}
	return objects.Add(encodeTree(children))
}

// states adds what is at each path below a node.
func (n *node) states(rel string, to map[string]State) {
	for _, c := range n.below {
		below := path.Join(rel, c.name)
		to[below] = c.state
		c.states(below, to)
	}
}

// omitted counts what is left out below a node.
func (n *node) omitted(rel string, add func(rel string, why Reason)) {
	for _, c := range n.below {
		below := path.Join(rel, c.name)
		if c.state.Kind == LeftOut {
			add(below, c.state.Why)
		}
		c.omitted(below, add)
	}
}

// within reports whether a path is a folder or below it.
func within(folder, p string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}
