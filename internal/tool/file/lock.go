package file

import (
	"context"
	"slices"
	"sync"

	"hermes"
)

// locks keeps two calls, of any sessions, from changing one file at the same
// time.
type locks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

type pathLock struct {
	taken chan struct{} // holds one while a call has the lock
	users int
}

func newLocks() *locks { return &locks{held: map[string]*pathLock{}} }

// lock waits for the locks of all paths and returns the function that releases
// them. It takes them in sorted order, so that two calls never deadlock. If ctx ends first, it has
// none of them and returns the cause.
func (l *locks) lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	var taken []*pathLock
	unlock = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, p := range taken {
			<-p.taken
			l.leave(paths[i], p)
		}
	}
	for _, path := range paths {
		l.mu.Lock()
		p := l.held[path]
		if p == nil {
			p = &pathLock{taken: make(chan struct{}, 1)}
			l.held[path] = p
		}
		p.users++
		l.mu.Unlock()
		select {
		case p.taken <- struct{}{}:
			taken = append(taken, p)
		case <-ctx.Done():
			l.mu.Lock()
			l.leave(path, p)
			l.mu.Unlock()
			unlock()
			return nil, context.Cause(ctx)
		}
	}
	return unlock, nil
}

// leave forgets a lock that no call wants any more. The caller holds mu.
func (l *locks) leave(path string, p *pathLock) {
	if p.users--; p.users == 0 {
		delete(l.held, path)
	}
}

// lockFile locks the file that a path leads to, and finds what is there under the lock. The caller calls
// unlock.
func (t *Toolset) lockFile(ctx context.Context, c *hermes.Call, asked string) (p location, unlock func(), err error) {
	real := t.judged.led(c, asked) // most often it is that one still, and elsewhere each look takes time
	if real == "" {
		if p, err = t.locate(ctx, c.Host, asked); err != nil {
			return location{}, nil, err
		}
		real = p.real
	}
	for {
		if unlock, err = t.locks.lock(ctx, real); err != nil {
			return location{}, nil, err
		}
		p, err = t.locate(ctx, c.Host, asked)
		if err == nil && p.real == real {
			return p, unlock, nil
		}
		unlock()
		if err != nil {
			return location{}, nil, err
		}
		real = p.real
	}
}
