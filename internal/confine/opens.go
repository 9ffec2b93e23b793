package confine

import (
	"context"
	"slices"

	"hermes"
	"hermes/internal/sandbox/plan"
)

// Opens says what a need for a path would open; see [hermes.Opener].
func (w *Walls) Opens(ctx context.Context, n hermes.Need) hermes.Opening {
	if n.Kind == hermes.RefusedWrite && w.writable(ctx, n.Name) {
		return hermes.Opening{Refuse: "it can be written already; name the file that was refused"}
	}
	return hermes.Opening{}
}

// writable reports whether commands may write a path without a need, or whether it holds
// the workspace: to allow it would open nothing that was refused.
func (w *Walls) writable(ctx context.Context, path string) bool {
	if below(w.config.Workspace, path) {
		return true
	}
	usual := keyOf(plan.Command, w.granted())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.usual = usual
	at, err := w.at(ctx, usual)
	if at == nil || err != nil { // the next command says why
		return false
	}
	granted := grantsOf(usual).Write
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(f string) bool { return below(path, f) })
	}
	p := at.plan.Policy
	return in(p.Write) && !in(p.Protected) && !in(p.Hidden) && !in(granted) && !w.obeyed(at, path)
}

// obeyed reports whether a path is compared after each command, and restored, also if the
// plan of a place does not protect it. Call it with the lock held.
func (w *Walls) obeyed(at *place, path string) bool {
	for _, n := range at.plan.Named {
		if below(path, n.Path) {
			return true
		}
	}
	return w.guarding && w.before.Holds(path)
}
