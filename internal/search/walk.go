package search

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// A folder is a folder to walk.
type folder struct {
	path, rel string // rel is "" for the root, else ends in a slash
	ignore    *ignoreLevel
}

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

// walk searches the query's root and returns when every worker has ended.
func walk(ctx context.Context, query *Query, c *collector) {
	q := &queue{}
	q.ready.L = &q.mu
	q.push([]folder{{path: query.Root, ignore: levelsAbove(query.Root)}})
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
				q.done()
			}
		})
	}
	workers.Wait()
}

// folder searches the files of a folder and returns its subfolders.
func (w *worker) folder(ctx context.Context, f folder) []folder {
	entries, err := readDir(f.path)
	if err != nil {
		w.found.denied()
		return nil
	}
	level := f.ignore
	for _, e := range entries {
		if n := e.Name(); n == ".gitignore" || n == ".ignore" {
			level = levelFor(f.ignore, f.path)
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
		path := filepath.Join(f.path, name)
		if e.IsDir() && Pseudo(path) {
			continue
		}
		switch {
		case e.IsDir():
			below = append(below, folder{path, f.rel + name + "/", level})
		case e.Type().IsRegular() || w.query.Lines == nil && e.Type()&fs.ModeSymlink != 0:
			if ctx.Err() != nil {
				return nil
			}
			w.file(ctx, path, f.rel+name)
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

// readDir lists a folder unsorted.
func readDir(path string) ([]fs.DirEntry, error) {
	d, err := os.Open(strings.TrimSuffix(path, "/") + "/.")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}
