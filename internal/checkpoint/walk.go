package checkpoint

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"hermes/internal/atomicfile"
)

// A handle is an open folder that several tasks use. The last one closes it.
type handle struct {
	root  *os.Root
	users atomic.Int32
}

func (h *handle) keep() { h.users.Add(1) }

func (h *handle) drop() {
	if h.users.Add(-1) == 0 {
		h.root.Close()
	}
}

// sub opens a folder below that was there a moment ago, unless its name is that of a link or
// of another folder now.
func (h *handle) sub(name string, was os.FileInfo) (*os.Root, error) {
	sub, err := h.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if is, err := sub.Stat("."); err != nil || !os.SameFile(was, is) {
		sub.Close()
		return nil, atomicfile.ErrLink
	}
	return sub, nil
}

// names returns the sorted names in the folder.
func (h *handle) names() ([]string, error) {
	f, err := h.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// maxRules bounds a .gitignore file, in bytes.
const maxRules = 1 << 20

// small reads a small file, "" if that cannot be done.
func (h *handle) small(name string) string {
	f, err := atomicfile.OpenFile(h.root, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRules {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRules))
	if err != nil {
		return ""
	}
	return string(text)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// A queue hands tasks to workers. The newest comes first, which keeps few folders open.
type queue struct {
	mu    sync.Mutex
	ready sync.Cond
	list  []func()
	open  int // tasks that wait or run
}

func (q *queue) push(task func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, task)
	q.open++
	q.ready.Signal()
}

// work runs tasks until there are none and none that could make more.
func (q *queue) work() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.list) == 0 && q.open > 0 {
			q.ready.Wait()
		}
		if q.open == 0 {
			return
		}
		task := q.list[len(q.list)-1]
		q.list = q.list[:len(q.list)-1]
		q.mu.Unlock()
		task()
		q.mu.Lock()
		q.open--
		if q.open == 0 {
			q.ready.Broadcast()
		}
	}
}
