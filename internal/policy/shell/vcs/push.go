package vcs

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Push judges git push.
func Push(l *track.Line, args []string) {
	forced := getopt.HasShort(args, "f") || getopt.HasLong(args, "--force") || getopt.HasLong(args, "--force-with-lease") || getopt.HasLong(args, "--mirror")
	deleted := getopt.HasShort(args, "d") || getopt.HasLong(args, "--delete") || getopt.HasLong(args, "--prune")
	for _, ref := range getopt.PlainWords(args) {
		forced = forced || strings.HasPrefix(ref, "+")
		deleted = deleted || len(ref) > 1 && ref[0] == ':'
	}
	words := getopt.PlainWords(args)
	if len(words) > 0 && slices.Contains(l.Remotes, words[0]) {
		l.Ask("git-remote", SendsElsewhere)
	}
	if len(words) > 0 && program.IsAddress(words[0]) {
		l.Ask("git-push-address", "sends the repository to an address that is not one of its remotes")
	}
	if forced {
		l.Ask("git-push-force", "overwrites history on the server")
	}
	if deleted {
		l.Ask("git-branch-delete", "deletes a branch on the server")
	}
}

// GitRemote judges a remote that gets another address, and remembers new ones.
func GitRemote(l *track.Line, words []string) {
	switch {
	case len(words) > 2 && words[0] == "set-url":
		l.Ask("git-remote", SendsElsewhere)
	case len(words) > 1 && words[0] == "add" && len(l.Remotes) >= lex.MaxFiles:
		l.Exhausted()
	case len(words) > 1 && words[0] == "add":
		l.Remotes = append(l.Remotes, words[len(words)-2])
	}
}

// SendsElsewhere is why a change of a remote asks.
const SendsElsewhere = "changes where git sends the repository"
