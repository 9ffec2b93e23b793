// Package cmd is the root of the command line: the global flags, the explicit
// list of commands, and the exit status of what they return.
//
// Each command is a package of its own: a folder for each noun, a file for each
// verb. This package only knows how to make them. Nothing is read, opened or
// probed before a command needs it: the flags fill a factory, from which each command
// makes what it needs when it runs.
//
// Start at Main in root.go; commands.go lists the commands. Package factory has what
// they share.
package cmd
