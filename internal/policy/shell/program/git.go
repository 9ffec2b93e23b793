package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
)

// GitCall splits the arguments of git into the options before the subcommand and
// the rest.
func GitCall(rest []string) (own, words []string) {
	words = getopt.Wrapper{Values: "Cc", Long: " --git-dir --work-tree --namespace --exec-path --config-env --attr-source --shallow-file --super-prefix "}.Inner(rest)
	return rest[:len(rest)-len(words)], words
}

// GitPaths returns the paths outside of the repository's files that git writes.
func GitPaths(rest []string) []string {
	words := getopt.Wrapper{Values: "Cc", Long: " --git-dir --work-tree --namespace --exec-path --config-env "}.Inner(rest)
	own := rest[:len(rest)-len(words)]
	if len(words) == 0 || !gitWrites(words) {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(own), func(w string) bool { return w == ".git" || strings.HasSuffix(w, "=.git") })
	switch words[0] {
	case "clone", "init", "worktree", "submodule", "archive", "bundle", "mv", "rm", "config", "format-patch", "checkout-index", "apply", "diff", "log", "show":
		return append(out, words...)
	}
	return out
}

// gitWrites reports whether a subcommand of git changes files, other than those
// git keeps for itself.
func gitWrites(words []string) bool {
	switch words[0] {
	case "clone", "init", "worktree", "submodule", "archive", "bundle", "mv", "rm", "format-patch", "checkout-index", "apply", "am", "pull", "merge", "rebase",
		"checkout", "switch", "restore", "reset", "cherry-pick", "revert", "stash", "clean", "read-tree", "filter-branch", "sparse-checkout":
		return !getopt.HasLong(words, "--cached")
	case "config":
		return getopt.HasShort(words, "f") || getopt.HasLong(words, "--file")
	case "diff", "log", "show":
		return getopt.HasLong(words, "--output")
	}
	return false
}
