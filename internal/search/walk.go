package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// A folder is a folder to walk.
type folder struct {
	place
	rel    string // "" for the root, else it ends in a slash
	ignore *ignoreLevel
}

// A place is where a file or folder is: its name in an open folder, and its path for
// results. It uses the open folder.
type place struct {
	in         *handle // nil for the root of the walk, which has its own handle
	name, path string
}

var errNotRegular = errors.New("it is not a regular file")

// A queue hands folders to workers and knows when all work is done. The newest
// folder comes first, which keeps it short: it holds only the siblings along
// each path.
type queue struct {
	mu      sync.Mutex
	ready   sync.Cond
	folders []folder
	open    int // folders waiting or in progress
}

func (q *queue) push(list []folder) {
	if len(list) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.folders = append(q.folders, list...)
	q.open += len(list)
	q.ready.Broadcast()
}

// pop waits for a folder. ok is false if there will be no more.
func (q *queue) pop() (f folder, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.folders) == 0 && q.open > 0 {
		q.ready.Wait()
	}
	if q.open == 0 {
		return folder{}, false
	}
	f = q.folders[len(q.folders)-1]
	q.folders = q.folders[:len(q.folders)-1]
	return f, true
}

func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	if q.open == 0 {
		q.ready.Broadcast()
	}
}

// walk searches the query's root, a folder, and returns when every worker has ended.
func walk(ctx context.Context, root *os.Root, query *Query, c *collector) error {
	top, err := newHandle(root, query.Root)
	if err != nil {
		return err
	}
	q := &queue{}
	q.ready.L = &q.mu
	q.push([]folder{{place: place{in: top, path: query.Root}, ignore: levelsAbove(query.Root, ignoreFiles[:])}})
	var workers sync.WaitGroup
	for range max(runtime.GOMAXPROCS(0), 2) {
		workers.Go(func() {
			w := newWorker(query, c)
			for {
				f, ok := q.pop()
				if !ok {
					return
				}
				if ctx.Err() == nil && !c.full() {
					q.push(w.folder(ctx, f))
				}
				f.in.drop()
				q.done()
			}
		})
	}
	workers.Wait()
	return nil
}

// open opens a folder. The root of the walk is open already.
func (f folder) open() (*handle, error) {
	if f.name == "" {
		f.in.keep()
		return f.in, nil
	}
	return f.in.sub(f.name, f.path)
}

// folder searches the files of a folder and returns its subfolders, which use the
// folder's handle.
func (w *worker) folder(ctx context.Context, f folder) []folder {
	here, err := f.open()
	if err != nil {
		w.found.denied()
		return nil
	}
	defer here.drop()
	entries, err := here.list()
	if err != nil {
		w.found.denied()
		return nil
	}
	level := f.ignore
	for _, e := range entries {
		if n := e.Name(); n == ".gitignore" || n == ".ignore" {
			level = levelIn(f.ignore, here, f.path)
			break
		}
	}
	base := filepath.ToSlash(f.path)
	var below []folder
	for _, e := range entries {
		name := e.Name()
		if name == ".git" || name[0] == '.' && !w.query.Hidden {
			continue
		}
		if level.ignored(base+"/"+name, name, e.IsDir()) {
			continue
		}
		at := place{here, name, filepath.Join(f.path, name)}
		if e.IsDir() && Pseudo(at.path) {
			continue
		}
		switch {
		case e.IsDir():
			here.keep()
			below = append(below, folder{at, f.rel + name + "/", level})
		case e.Type().IsRegular() || w.query.Lines == nil && e.Type()&fs.ModeSymlink != 0:
			if ctx.Err() != nil {
				continue
			}
			w.entry(ctx, at, f.rel+name)
		}
	}
	return below
}

// Pseudo reports whether a folder holds files that the kernel generates, some
// of which never end. Walks do not enter it.
func Pseudo(path string) bool {
	for _, top := range [...]string{"/proc", "/sys", "/dev"} {
		if path == top || strings.HasPrefix(path, top+"/") {
			return path != "/dev/shm" && !strings.HasPrefix(path, "/dev/shm/")
		}
	}
	return false
}
