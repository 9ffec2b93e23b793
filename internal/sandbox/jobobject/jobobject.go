// Package jobobject confines programs on Windows: a job object that ends with this
// process and that nothing leaves, limits on the user interface, on processes and on
// memory, a token without administrator rights and privileges, and low integrity.
//
// These are no walls around reading or the network: see docs/platform-notes.md, which
// also says that nothing of it ever ran. It builds on the same means as package proc,
// whose children are in a job without limits. Start reading at Launcher.
package jobobject

// Limits bound a program and all that it starts together. Zero means no limit.
type Limits struct {
	Processes   uint32
	MemoryBytes uint64
}
