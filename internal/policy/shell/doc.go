// Package shell judges command lines without running them: whether one is dangerous
// ([Judge]) and which simple commands it runs ([Commands]); both are in judge.go.
//
// It uses no network or state, no disk but through Context.Resolve, and knows nothing of
// the agent. A command that is only known at run time counts as dangerous. All functions
// may be called concurrently.
//
// This package holds what is recursive: it walks the statements (walk.go), expands the
// words (word.go), follows commands that run other commands (command.go, launch.go, script.go,
// hidden.go), and applies the rules to each (rules.go). The packages below it know no judge
// and run downhill:
//
//	lex      reads text: syntax, escapes, marks of what is unknown, limits
//	getopt   reads arguments: options, values, verbs
//	code     reads other languages: sed, awk, SQL, Python
//	program  facts about programs, as tables
//	track    what is known of the line: variables, folders, files, links, findings
//	environ  variables and options that make a program run another one
//	machine  rules: what changes this machine
//	remote   rules: what reaches other machines
//	vcs      rules: what version control loses, sends or runs
//	files    rules: what happens to files, folders and secrets
//
// A rule is a func that gets the [track.Line], the name of a program and its arguments. A
// new one goes into the file of its kind of danger and a line in rules.go. If its arguments
// have other commands in them, it gives these back to the judge, its [track.Runner]. Beside
// the judge, package inspect answers other questions about a line.
//
// Two files of lines hold the rules in place: each of testdata/hostile.txt has to ask, and
// of testdata/everyday.txt nearly none may.
package shell
