package confine

// Freeze stops everything inside.
func (w *Walls) Freeze() (thaw func(), err error) { return w.freeze() }
