// Package shell reads command lines as a shell would, and tells what they would
// do: whether one is dangerous (judge.go), certainly changes nothing (reads.go),
// which command decides its exit status (last.go), which folders it goes to
// (folders.go), and where sudo wants its password (sudo.go).
//
// Nothing is run and nothing is looked up: no disk, no network, no state, and
// nothing of the agent is known here. What cannot be known before the line runs
// counts as dangerous. Everything may be called from several goroutines.
//
// The judge parses (judge.go), walks through the statements (walk.go), works out
// the words (word.go, value.go), takes the wrappers off (argv.go, wrap.go), and
// asks the rules (rules.go, and a file for each kind of danger).
package shell
