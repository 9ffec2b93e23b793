package shell

import (
	"slices"
	"strings"
)

// Local reports whether what a line prints certainly comes from this machine: from
// the files that [Paths] names, from its folder, and from programs that fetch
// nothing themselves. It knows a list of programs; for any other line, and where a
// word is known only at run time, it returns false. Tests and builds of a project
// count as local.
func Local(line string) bool {
	if strings.TrimSpace(line) == "" || strings.Contains(line, "://") || strings.Contains(line, "/dev/tcp") || strings.Contains(line, "/dev/udp") {
		return false
	}
	local := true
	complete := Commands(line, func(words []string) bool {
		local = !slices.ContainsFunc(words, dynamic) && localCommand(program(words[0]), words[1:])
		return local
	})
	return complete && local && len(Paths(line)) < maxPaths
}

// localPrograms print what is in the files that they are given, or nothing.
var localPrograms = []string{
	"basename", "cat", "cd", "chmod", "cmp", "column", "comm", "cp", "cut", "date", "diff", "dirname", "du", "echo", "egrep", "false", "fgrep",
	"file", "find", "fmt", "fold", "gofmt", "grep", "head", "jq", "ls", "make", "md5sum", "mkdir", "mv", "nl", "od", "paste", "printf", "pwd", "pytest",
	"realpath", "rev", "rg", "rm", "rmdir", "sed", "seq", "sha256sum", "sleep", "sort", "stat", "staticcheck", "tac", "tail", "test", "[", "touch", "tr",
	"tree", "true", "uniq", "wc", "xxd",
}

// localVerbs are the verbs of programs that fetch with others.
var localVerbs = map[string][]string{
	"git":   {"add", "blame", "branch", "checkout", "commit", "diff", "grep", "log", "ls-files", "mv", "reset", "restore", "rev-parse", "rm", "show", "stash", "status", "switch", "tag"},
	"go":    {"build", "doc", "env", "fmt", "list", "run", "test", "tool", "version", "vet"},
	"cargo": {"build", "check", "clippy", "fmt", "run", "test"},
	"npm":   {"run", "test"},
	"pnpm":  {"run", "test"},
	"yarn":  {"run", "test"},
}

func localCommand(name string, args []string) bool {
	if slices.Contains(localPrograms, name) {
		return true
	}
	verbs := localVerbs[name]
	if len(args) == 0 || !slices.Contains(verbs, args[0]) { // options before the verb may name another place
		return false
	}
	return !slices.ContainsFunc(args[1:], func(a string) bool { return strings.Contains(a, "@") && name != "git" }) // a version to fetch
}
