// Package plugin runs plugins: programs in any language that bring tools, hooks and sections of
// the prompt along, and speak JSON-RPC over their standard streams (docs/plugin-protocol.md).
//
// A plugin is a folder with a plugin.yaml (manifest.go), which install.go puts in place from a source (the package source);
// one of the Python Hermes becomes such a folder (the package upstream). What the user enabled is pinned: the hash
// of all its files (digest.go) and what it offers (pins.go), so that a session knows its tools
// without starting it and nothing of it changes unnoticed. The program starts at its first use
// (plugin.go, process.go) and its death harms no one else. What it asks the program to do (host.go)
// is bound to a call that runs, and to what it declared.
//
// The package does not know how walls are made: the caller gives each plugin an environment of its
// own. It imports no other component. Start at Plugins in plugins.go.
package plugin
