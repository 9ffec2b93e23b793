package spend

// Running returns the number of calls that a governor keeps.
func (g *Governor) Running() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.calls)
}
