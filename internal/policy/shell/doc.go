// Package shell analyzes command lines without running them: whether one is
// dangerous (judge.go), whether it only reads (reads.go), which command decides
// its exit status (last.go), which folders it changes to (folders.go), and where
// sudo needs a password (sudo.go).
//
// It uses no disk, network or state, and knows nothing of the agent. A command
// that is only known at run time counts as dangerous. All functions may be
// called concurrently.
//
// Start reading at [Judge] in judge.go. It parses the line, walks the statements
// (walk.go), expands the words (word.go, value.go), removes wrappers such as sudo
// (argv.go, wrap.go) and applies the rules (rules.go, and one file for each kind
// of danger).
package shell
