// Package toolbox selects the tools of a session and runs their calls through
// the tool chain.
//
// Selection: table.go is the static table of toolsets, composites and platform
// presets. A [Catalogue] joins it with the toolsets that this program has, and
// its Select makes a fixed [Set].
//
// Calls: a [Toolbox] runs the calls of one session. Start reading at chain.go,
// which lists the layers in order; each layer has its own file. Every problem
// becomes a result that tells the model what to try next; Run never fails.
//
// The package knows no particular tool, frontend or store. It is handed what it
// needs of them: hooks, approval rules, a store for large results.
package toolbox
