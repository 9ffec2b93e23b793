package confine

import (
	"context"
	"sync"
)

// gate keeps commands from starting inside while one runs outside. The zero value is open.
type gate struct {
	mu      sync.Mutex
	passing int           // commands that are about to start
	closed  bool          // one runs outside
	changed chan struct{} // closed when either changes; nil if no one waits
}

// pass waits until nothing runs outside. Until the returned func is called, nothing begins
// to.
func (g *gate) pass(ctx context.Context) (passed func(), err error) {
	if err := g.wait(ctx, func() bool { return !g.closed }); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	g.passing++
	return sync.OnceFunc(func() { g.change(func() { g.passing-- }) }), nil
}

// close waits until nothing else runs outside or is about to start, and lets nothing pass
// until the returned func is called.
func (g *gate) close(ctx context.Context) (open func(), err error) {
	if err := g.wait(ctx, func() bool { return !g.closed && g.passing == 0 }); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	g.closed = true
	return sync.OnceFunc(func() { g.change(func() { g.closed = false }) }), nil
}

// wait returns with the lock held once a condition holds.
func (g *gate) wait(ctx context.Context, until func() bool) error {
	for {
		g.mu.Lock()
		if until() {
			return nil
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *gate) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
