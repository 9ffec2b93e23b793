// Package toolbox owns which tools a session has and everything that happens
// round a call of one.
//
// Which: table.go is the static table of toolsets, composites and platform
// presets; a [Catalogue] joins it with the toolsets that this program really
// has, and its Select makes a fixed [Set].
//
// Round a call: a [Toolbox] runs the calls of one session through the tool chain.
// Start reading at chain.go, where its layers stand in order; each layer has a
// file of its own. Whatever goes wrong becomes a result that tells the model
// what to try next; Run never fails.
//
// The package knows no particular tool, face or store. What it needs of them
// it is given: hooks, approval rules, a place for large results.
package toolbox
