package confine

import (
	"context"

	"hermes/internal/sandbox"
)

// Freeze stops everything inside.
func (w *Walls) Freeze() (thaw func(), err error) { return w.freeze() }

// Sibling returns the walls of another session in the same workspace.
func (w *Walls) Sibling() *Walls { return w.program.Walls(w.config) }

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
