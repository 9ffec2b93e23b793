package confine

// Freeze stops everything inside.
func (w *Walls) Freeze() (thaw func(), err error) { return w.freeze() }

// Sibling returns the walls of another session in the same workspace.
func (w *Walls) Sibling() *Walls { return w.program.Walls(w.config) }
