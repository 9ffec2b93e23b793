package gitguard

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/program"
)

// NeedsConfig reports whether a git command writes the configuration of a repository
// and fails without. It is judged by words: an alias or an unknown command does not
// count, it is told that the file may not be written. argv begins with git's name.
func NeedsConfig(argv []string) bool {
	if len(argv) == 0 || strings.TrimSuffix(path.Base(argv[0]), ".exe") != "git" {
		return false
	}
	_, words := program.GitCall(argv[1:])
	if len(words) == 0 {
		return false
	}
	verb, args := words[0], words[1:]
	plain := getopt.PlainWords(args)
	first := getopt.At(plain, 0)
	switch verb {
	case "init", "clone":
		return true
	case "config":
		return configWrites(args, plain)
	case "remote":
		return slices.Contains([]string{"add", "remove", "rm", "rename", "set-url", "set-branches"}, first)
	case "submodule":
		return slices.Contains([]string{"add", "init", "deinit", "update", "sync", "set-url", "set-branch", "absorbgitdirs"}, first)
	case "branch":
		return branchWrites(args, plain)
	case "worktree":
		return slices.Contains([]string{"remove", "move", "repair", "prune"}, first) || tracks(verb, args, plain)
	case "checkout", "switch":
		return tracks(verb, args, plain)
	case "push":
		return getopt.HasShort(args, "u") || getopt.HasLong(args, "--set-upstream")
	case "fetch", "pull":
		return getopt.HasLong(args, "--set-upstream") || getopt.HasLong(args, "--filter")
	case "sparse-checkout":
		return slices.Contains([]string{"init", "set", "disable", "reapply"}, first)
	case "maintenance":
		return slices.Contains([]string{"start", "register", "unregister", "stop"}, first)
	case "lfs":
		return first == "install" || first == "uninstall"
	}
	return false
}

// MakesRepository reports whether a git command only makes a new repository, whose
// configuration is not there yet and so not protected.
func MakesRepository(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	_, words := program.GitCall(argv[1:])
	return len(words) > 0 && (words[0] == "init" || words[0] == "clone")
}

// configWrites tells git config that writes from that which reads. A file or a scope
// of its own does not matter: the walls know which may be written.
func configWrites(args, plain []string) bool {
	for _, read := range []string{"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list"} {
		if slices.Contains(args, read) {
			return false
		}
	}
	switch getopt.At(plain, 0) {
	case "list", "get":
		return false
	case "set", "unset", "rename-section", "remove-section", "edit":
		return true
	}
	writes := []string{"--unset", "--unset-all", "--add", "--replace-all", "--remove-section", "--rename-section", "--edit", "-e"}
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(writes, a) }) {
		return true
	}
	words := getopt.Wrapper{Values: "ft", Long: " --file --type --blob --default --comment --value --url "}.Rest(args)
	return !getopt.HasShort(args, "l") && len(words) > 1
}

// branchWrites: deleting a branch only warns without the configuration, but its section
// would stay and apply to a later branch of this name.
func branchWrites(args, plain []string) bool {
	for _, o := range []string{"--set-upstream-to", "--unset-upstream", "--track", "--move", "--copy", "--edit-description", "--delete"} {
		if getopt.HasLong(args, o) {
			return true
		}
	}
	return getopt.HasShort(args, "utmMcCdD") || fromRemote(args, plain)
}

// tracks reports whether a new branch follows one of a server, which git notes in the
// configuration.
func tracks(verb string, args, plain []string) bool {
	if verb == "worktree" {
		if getopt.At(plain, 0) != "add" {
			return false
		}
		plain = plain[1:]
	}
	if getopt.HasLong(args, "--track") || verb != "worktree" && getopt.HasShort(args, "t") {
		return true
	}
	return (getopt.HasShort(args, "bBcC") || getopt.HasLong(args, "--create")) && fromRemote(args, plain)
}

// fromRemote reports whether a branch may begin at one of a server: the start has a
// slash.
func fromRemote(args, plain []string) bool {
	if getopt.HasLong(args, "--no-track") || len(plain) < 2 {
		return false
	}
	return strings.Contains(plain[len(plain)-1], "/")
}
