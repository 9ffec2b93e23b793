//go:build !linux

package lineage

// Announce does nothing on this system, where every Hermes above counts as an
// agent.
func Announce() error { return nil }

// seen is empty: the files of another process cannot be read.
func seen(int) []mark { return nil }

// variableOf is empty: the environment of another process is not read.
func variableOf(int, string) string { return "" }
