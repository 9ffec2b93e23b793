package files

import (
	"path"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/machine"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Recursive judges programs other than rm that change everything below a folder.
func Recursive(l *track.Line, name string, rest []string) {
	words := getopt.PlainWords(rest)
	switch name {
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "chcon", "chflags":
		if getopt.HasShort(rest, "R") || getopt.HasLong(rest, "--recursive") {
			changesTree(l, name, words)
		} else if name == "chmod" && removesAccess(rest) {
			closes(l, words)
		}
	case "rsync":
		last := ""
		if len(words) > 0 {
			last = words[len(words)-1]
		}
		if getopt.CertainShort(rest, "n", getopt.CopyValues(name)) || getopt.HasLong(rest, "--dry-run") {
			return
		}
		if getopt.HasDeletion(rest) {
			l.Ask("mirror-delete", "deletes every file in a folder that another folder does not have")
			destroysTree(l, program.RemotePath(last))
		}
		if getopt.HasLong(rest, "--remove-source-files") {
			for _, source := range words[:max(len(words)-1, 0)] {
				destroysTree(l, program.RemotePath(source))
			}
		}
	case "mv", "gmv", "move":
		if len(words) > 1 && words[len(words)-1] == "/dev/null" {
			l.Ask("move-away", "moves files to where they are lost")
		}
		for _, source := range words[:max(len(words)-1, 0)] {
			destroysTree(l, source)
		}
	case "tar", "gtar", "bsdtar", "zip":
		if getopt.HasLong(rest, "--remove-files") || name == "zip" && getopt.HasShort(rest, "m") {
			for _, w := range words {
				destroysTree(l, w)
			}
		}
	case "rclone":
		if len(words) > 1 && strings.Contains(" purge delete rmdirs sync move ", " "+words[0]+" ") {
			for _, w := range words[1:] {
				destroysTree(l, w)
			}
		}
	case "robocopy":
		for _, w := range words[:min(len(words), 2)] {
			if strings.Contains(strings.ToLower(strings.Join(rest, " ")), "/mir") {
				destroysTree(l, w)
			}
		}
	}
}

func destroysTree(l *track.Line, p string) {
	if p != "" && l.DestroysVital(p) {
		l.Refuse("delete-root", track.DeletesRoot)
	}
}

// changesTree judges a change of rights of folders with everything in them.
func changesTree(l *track.Line, name string, targets []string) {
	for _, t := range targets {
		switch {
		case !l.DestroysVital(t):
		case l.IsHome(t):
			l.Ask("recursive-rights", "changes the rights of everything in a home folder")
		default:
			l.Refuse("system-rights", "changes the rights of everything in the root folder or a system folder")
		}
	}
}

// removesAccess reports whether a mode takes rights from others.
func removesAccess(rest []string) bool {
	for _, a := range rest {
		if program.IsOctal(a) {
			return strings.HasSuffix(a, "0")
		}
		if at := strings.IndexByte(a, '-'); at >= 0 && strings.Trim(a[:at], "ugoa") == "" && len(a) > at+1 && strings.Trim(a[at+1:], "rwxXst,ugoa+=-") == "" {
			return true
		}
	}
	return false
}

// closes judges files of the system that a command makes unusable.
func closes(l *track.Line, files []string) {
	for _, f := range files {
		p, ok := l.Absolute(f)
		switch {
		case !ok:
		case l.Vital(p) && !l.IsHome(p):
			l.Refuse("system-rights", "takes the rights to the root folder or a system folder")
		case neededToStart(p), strings.Contains(p, "/bin/"), strings.Contains(p, "/sbin/"), strings.HasPrefix(p, "/lib"), strings.HasPrefix(p, "/usr/lib"):
			if track.OfSystem(p) {
				l.Ask("system-rights", "takes the rights to a file of the system")
			}
		}
	}
}

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
