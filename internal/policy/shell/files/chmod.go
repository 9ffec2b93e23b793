package files

import (
	"path"
	"strings"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/machine"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Chmod judges chmod, and remembers the files that it makes executable.
func Chmod(l *track.Line, rest []string) {
	var mode string
	var files []string
	for _, a := range rest {
		switch {
		case mode == "" && (strings.ContainsAny(a, "+=") || program.IsOctal(a) || strings.HasPrefix(a, "-") && strings.Trim(a, "-rwxXst") == "" && !isChmodOption(a)):
			mode = a
		case !strings.HasPrefix(a, "-"):
			files = append(files, a)
		}
	}
	machine.Setuid(l, mode)
	if worldWritable(mode) {
		l.Ask("world-writable", "makes files writable by every user of this machine")
	}
	if makesExecutable(mode) {
		l.Made = append(l.Made, files...)
	}
	for _, f := range files {
		if track.RawDevice(f) {
			l.Write(f)
		}
	}
}

func isChmodOption(a string) bool { return a == "-R" || a == "-v" || a == "-c" || a == "-f" }

func worldWritable(mode string) bool {
	if program.IsOctal(mode) {
		return (mode[len(mode)-1]-'0')&2 != 0
	}
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		if i > 0 && strings.ContainsAny(clause[:i], "oa") && strings.Contains(clause[i:], "w") {
			return true
		}
	}
	return false
}

func makesExecutable(mode string) bool {
	if program.IsOctal(mode) {
		return (mode[len(mode)-3]-'0')&1 != 0
	}
	i := strings.IndexAny(mode, "+=")
	return i >= 0 && strings.ContainsAny(mode[i:], "xX")
}

// RanAfterChmod finds files that the same line made executable and runs.
func RanAfterChmod(l *track.Line, args []string) {
	for _, file := range l.Made {
		for i, a := range args[:min(2, len(args))] {
			if i == 1 && !program.IsShell(lex.Program(args[0])) && lex.Program(args[0]) != "source" && lex.Program(args[0]) != "." {
				break
			}
			if path.Clean(a) == path.Clean(file) && (i == 1 || strings.Contains(a, "/")) {
				l.Ask("chmod-and-run", "makes a file executable and runs it")
			}
		}
	}
}
