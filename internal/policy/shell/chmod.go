package shell

import (
	"path"
	"strings"
)

func (j *judge) chmod(rest []string) {
	var mode string
	var files []string
	for _, a := range rest {
		switch {
		case mode == "" && (strings.ContainsAny(a, "+=") || isOctal(a) || strings.HasPrefix(a, "-") && strings.Trim(a, "-rwxXst") == "" && !isChmodOption(a)):
			mode = a
		case !strings.HasPrefix(a, "-"):
			files = append(files, a)
		}
	}
	j.setuid(mode)
	if worldWritable(mode) {
		j.ask("world-writable", "makes files writable by every user of this machine")
	}
	if makesExecutable(mode) {
		j.made = append(j.made, files...)
	}
	for _, f := range files {
		if rawDevice(f) {
			j.write(f)
		}
	}
}

func isChmodOption(a string) bool { return a == "-R" || a == "-v" || a == "-c" || a == "-f" }

func isOctal(s string) bool {
	return len(s) >= 3 && len(s) <= 5 && strings.Trim(s, "01234567") == ""
}

func worldWritable(mode string) bool {
	if isOctal(mode) {
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
	if isOctal(mode) {
		return (mode[len(mode)-3]-'0')&1 != 0
	}
	i := strings.IndexAny(mode, "+=")
	return i >= 0 && strings.ContainsAny(mode[i:], "xX")
}

// ranAfterChmod finds files that the same line made executable and runs.
func (j *judge) ranAfterChmod(args []string) {
	for _, file := range j.made {
		for i, a := range args[:min(2, len(args))] {
			if i == 1 && !isShell(program(args[0])) && program(args[0]) != "source" && program(args[0]) != "." {
				break
			}
			if path.Clean(a) == path.Clean(file) && (i == 1 || strings.Contains(a, "/")) {
				j.ask("chmod-and-run", "makes a file executable and runs it")
			}
		}
	}
}
