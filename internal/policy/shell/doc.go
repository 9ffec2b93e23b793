// Package shell analyzes command lines without running them: whether one is
// dangerous (judge.go), whether it only reads (reads.go), which command decides
// its exit status (last.go), which paths it names and which folders it changes to
// (mentions.go), which simple commands it runs (commands.go), and where sudo needs
// a password (sudo.go).
//
// It uses no network or state, no disk but through Context.Resolve, and knows
// nothing of the agent. A command that is only known at run time counts as
// dangerous. All functions may be called concurrently.
//
// Start reading at [Judge] in judge.go. It parses the line, walks the statements
// (walk.go), expands the words (word.go, value.go), removes wrappers such as sudo
// (argv.go, wrap.go, launch.go) and applies the rules (rules.go, and one file for
// each kind of danger). What it follows is bounded (limit.go); what is past the
// bounds is unknown. A program that no rule knows may run its arguments (hidden.go),
// and files that the line writes are remembered (files.go, written.go). What
// destroys the root, the system or a home is one predicate (destroy.go). Paths are
// judged by the table of internal/policy: sensitive.go says which paths a word may
// mean, programs.go and named.go which words of a command are paths that it may
// write, upload.go and secret.go how secrets leave the machine.
//
// Two files of lines hold the rules in place: each of testdata/hostile.txt has to
// ask, and of testdata/everyday.txt nearly none may.
package shell
