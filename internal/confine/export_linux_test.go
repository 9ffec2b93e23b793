package confine

import (
	"context"
	"net"

	"hermes/internal/sandbox"
)

// Freeze stops everything inside.
func (w *Walls) Freeze() (thaw func(), err error) { return w.freeze() }

// Sibling returns the walls of another session in the same workspace.
func (w *Walls) Sibling() *Walls { return w.program.Walls(w.config) }

// ForwardFrom forwards the connections of a listener to a port inside until stop is called. It
// closes ended when it forwards no more.
func (w *Walls) ForwardFrom(l net.Listener, port int) (stop func(), ended <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, done := forwardFrom(l, w.places[w.usual].keeper, port), make(chan struct{})
	go func() { f.work.Wait(); close(done) }()
	return f.close, done
}

// ChooseAfter chooses a layer on a host on which walls around a workspace fail with an
// error, and walls around an empty folder with another one, or not if it is nil. It reports
// whether commands would run without walls.
func (p *Program) ChooseAfter(ctx context.Context, workspace, empty error) (bare bool, err error) {
	at, err := p.choose(ctx, func(sandbox.Layer) (*place, error) { return nil, workspace }, func(l sandbox.Layer) (*place, error) {
		if empty != nil {
			return nil, empty
		}
		return p.alone(ctx, l)
	})
	return at == nil && err == nil, err
}
