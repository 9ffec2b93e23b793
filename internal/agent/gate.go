package agent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes"
)

// maxParallel is how many calls of a turn run at once. A call that waits for one that
// it invoked does not count.
const maxParallel = 8

// gate lets the calls of a turn run, both those of the model and those that a call
// invokes, and keeps calls apart that must not run at the same time. A call may run
// beside the one that invoked it, which holds its place meanwhile.
//
// Two calls that each invoke what must not run beside the other would wait for each
// other forever. So when every running call waits for one that it invoked, none of them
// is doing anything, and the gate lets in the one that has waited longest.
type gate struct {
	mu      sync.Mutex
	running []*call
	waiting []*call // in the order of their arrival
}

// enter waits until c may run. It returns false if ctx ends before. The caller
// calls done for each call that entered.
func (g *gate) enter(ctx context.Context, c *call) bool {
	c.admitted = make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, c)
	g.admit()
	g.mu.Unlock()
	select {
	case <-c.admitted:
		return true
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, c)
	if i < 0 {
		return true // it was let in just before
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	g.admit()
	return false
}

// done ends a call.
func (g *gate) done(c *call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = slices.DeleteFunc(g.running, func(r *call) bool { return r == c })
	g.admit()
}

// admit lets in every call that may run now. The caller holds mu.
func (g *gate) admit() {
	for {
		i := slices.IndexFunc(g.waiting, g.mayRun)
		if i < 0 && len(g.waiting) > 0 && g.stuck() {
			i = 0
		}
		if i < 0 {
			return
		}
		c := g.waiting[i]
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.running = append(g.running, c)
		close(c.admitted)
	}
}

// mayRun reports whether c may run beside the running calls.
func (g *gate) mayRun(c *call) bool {
	busy := 1
	for _, r := range g.running {
		if !together(r, c) && !r.invoked(c) {
			return false
		}
		if r != c.parent && !hasChild(g.running, r) {
			busy++
		}
	}
	return busy <= maxParallel
}

// stuck reports whether every running call waits for one that it invoked.
func (g *gate) stuck() bool {
	return !slices.ContainsFunc(g.running, func(r *call) bool { return !hasChild(g.running, r) && !hasChild(g.waiting, r) })
}

func hasChild(list []*call, parent *call) bool {
	return slices.ContainsFunc(list, func(c *call) bool { return c.parent == parent })
}

// invoked reports whether c was invoked by p, or by a call that p invoked.
func (p *call) invoked(c *call) bool {
	for c = c.parent; c != nil; c = c.parent {
		if c == p {
			return true
		}
	}
	return false
}

// together reports whether two calls may run at the same time.
func together(a, b *call) bool { return parallel(a) && parallel(b) && !clash(a, b) }

func parallel(c *call) bool {
	if !c.known || c.refuse != "" {
		return false
	}
	switch c.spec.Mode {
	case hermes.ModeParallel:
		return true
	case hermes.ModePaths:
		return len(c.paths) > 0
	case hermes.ModeSequential:
		return c.reads
	}
	return false
}

// clash reports whether two calls touch the same files and one may change them.
func clash(a, b *call) bool {
	if a.reads && b.reads {
		return false
	}
	for _, p := range a.paths {
		for _, q := range b.paths {
			if overlap(p, q) {
				return true
			}
		}
	}
	return false
}

// overlap reports whether two paths are equal or one contains the other.
func overlap(p, q string) bool {
	p, q = filepath.ToSlash(filepath.Clean(p)), filepath.ToSlash(filepath.Clean(q))
	if p == q || p == "." || q == "." {
		return true
	}
	// The folder of the relative path is unknown: compare the ends only.
	if filepath.IsAbs(p) != filepath.IsAbs(q) {
		return strings.HasSuffix(p, "/"+q) || strings.HasSuffix(q, "/"+p)
	}
	return strings.HasPrefix(p, q+"/") || strings.HasPrefix(q, p+"/")
}
