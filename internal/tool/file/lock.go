package file

import (
	"slices"
	"sync"
)

// locks keeps two calls, of any sessions, from changing one file at the same
// time.
type locks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

type pathLock struct {
	sync.Mutex
	users int
}

func newLocks() *locks { return &locks{held: map[string]*pathLock{}} }

// lock waits for the locks of all paths and returns the function that releases
// them. It takes them in sorted order, so that two calls never deadlock.
func (l *locks) lock(paths ...string) (unlock func()) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	taken := make([]*pathLock, len(paths))
	for i, path := range paths {
		l.mu.Lock()
		p := l.held[path]
		if p == nil {
			p = &pathLock{}
			l.held[path] = p
		}
		p.users++
		l.mu.Unlock()
		p.Lock()
		taken[i] = p
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, p := range taken {
			p.Unlock()
			if p.users--; p.users == 0 {
				delete(l.held, paths[i])
			}
		}
	}
}
