package app

import (
	"slices"
	"strings"

	"hermes/internal/lineage"
)

// WideningVariables are the variables that give an agent wider rights. Commands do
// not inherit them, so that an agent below this one has them only if a command sets
// them.
func WideningVariables() []string {
	return []string{"HERMES_YOLO_MODE", "HERMES_ACCEPT_HOOKS", "HERMES_ALLOW_PRIVATE_URLS", "HERMES_DISABLE_FILE_STATE_GUARD"}
}

// withoutWidening returns the variables without those that widen rights.
func withoutWidening(env []string) []string {
	widening := WideningVariables()
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(widening, name)
	})
}

// makeMark announces this process as one that runs an agent, and makes the mark of
// its commands. What fails is logged: a program below is found in the other ways.
func (a *App) makeMark() *lineage.Mark {
	h, err := a.home()
	if err != nil {
		return nil // reported where the home is needed
	}
	if a.opts.Announce != nil {
		stop, err := a.opts.Announce()
		if err != nil {
			a.log().Warn("announce the agent", "error", err)
		}
		a.closing(func() error { stop(); return nil })
	}
	m, err := lineage.NewMark(h.Path())
	if err != nil {
		a.log().Warn("mark commands", "error", err)
	}
	a.closing(m.Close)
	return m
}

// closing adds a func that Close calls.
func (a *App) closing(f func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closers = append(a.closers, f)
}
