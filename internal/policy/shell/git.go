package shell

import (
	"slices"
	"strings"
)

const sendsElsewhere = "changes where git sends the repository"

// git judges commands that discard work, here or on a server.
func (j *judge) git(rest []string) {
	own, words := gitCall(rest)
	j.gitRuns(own, words)
	j.gitDiscards(own, words)
	if len(words) == 0 {
		return
	}
	args := words[1:]
	switch words[0] {
	case "reset":
		if hasLong(args, "--hard") {
			j.ask("git-reset-hard", "discards uncommitted changes")
		}
	case "push":
		j.push(args)
	case "remote":
		j.gitRemote(plainWords(args))
	case "add", "stage", "commit":
		all := hasShort(args, "aA") || hasLong(args, "--all") || slices.Contains(args, ".")
		if slices.ContainsFunc(plainWords(withoutValues(args, "mFCct")), j.secretWord) || all && j.madeSecrets() {
			j.ask("secret-commit", "puts a secret file into the repository")
		}
	case "branch":
		if (hasShort(args, "f") || hasLong(args, "--force")) && !hasShort(args, "dD") {
			j.ask("git-branch-move", "moves a branch away from its commits")
		}
		// -d refuses to delete what is not merged; a branch of a server is only a copy.
		if hasShort(args, "D") || (hasShort(args, "d") || hasLong(args, "--delete")) && (hasShort(args, "f") || hasLong(args, "--force")) {
			j.ask("git-branch-delete", "deletes a branch")
		}
	}
}

// gitCall splits the arguments of git into the options before the subcommand and
// the rest.
func gitCall(rest []string) (own, words []string) {
	words = wrapper{values: "Cc", long: " --git-dir --work-tree --namespace --exec-path --config-env --attr-source --shallow-file --super-prefix "}.inner(rest)
	return rest[:len(rest)-len(words)], words
}

func (j *judge) push(args []string) {
	forced := hasShort(args, "f") || hasLong(args, "--force") || hasLong(args, "--force-with-lease") || hasLong(args, "--mirror")
	deleted := hasShort(args, "d") || hasLong(args, "--delete") || hasLong(args, "--prune")
	for _, ref := range plainWords(args) {
		forced = forced || strings.HasPrefix(ref, "+")
		deleted = deleted || len(ref) > 1 && ref[0] == ':'
	}
	words := plainWords(args)
	if len(words) > 0 && slices.Contains(j.remotes, words[0]) {
		j.ask("git-remote", sendsElsewhere)
	}
	if len(words) > 0 && isAddress(words[0]) {
		j.ask("git-push-address", "sends the repository to an address that is not one of its remotes")
	}
	if forced {
		j.ask("git-push-force", "overwrites history on the server")
	}
	if deleted {
		j.ask("git-branch-delete", "deletes a branch on the server")
	}
}

// gitRemote judges a remote that gets another address, and remembers new ones.
func (j *judge) gitRemote(words []string) {
	switch {
	case len(words) > 2 && words[0] == "set-url":
		j.ask("git-remote", sendsElsewhere)
	case len(words) > 1 && words[0] == "add" && len(j.remotes) >= maxFiles:
		j.exhausted()
	case len(words) > 1 && words[0] == "add":
		j.remotes = append(j.remotes, words[len(words)-2])
	}
}

// isAddress reports whether a word is the address of a repository, not the name
// of a remote.
func isAddress(word string) bool {
	return strings.Contains(word, "://") || strings.Contains(word, "@") && strings.Contains(word, ":") || dynamic(word) && !strings.HasPrefix(word, "-")
}
