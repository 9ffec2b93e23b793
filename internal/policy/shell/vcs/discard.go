// Package vcs judges what version control loses or sends: changes that are thrown away,
// history that is overwritten, settings that run programs.
package vcs

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/track"
)

// GitDiscards judges subcommands that throw away changes or commits.
func GitDiscards(l *track.Line, own, words []string) {
	if len(words) == 0 {
		return
	}
	args := words[1:]
	verb := ""
	if plain := getopt.PlainWords(args); len(plain) > 0 {
		verb = plain[0]
	}
	forced := getopt.HasShort(args, "f") || getopt.HasLong(args, "--force")
	switch words[0] {
	case "checkout":
		gitDiscard(l, checkoutDiscards(args))
	case "switch":
		gitDiscard(l, forced || getopt.HasLong(args, "--discard-changes"))
	case "restore":
		indexOnly := (getopt.CertainShort(args, "S", "sU") || getopt.HasLong(args, "--staged")) && !getopt.HasShort(args, "W") && !getopt.HasLong(args, "--worktree")
		gitDiscard(l, !indexOnly && !getopt.CertainShort(args, "p", "sU") && !getopt.HasLong(args, "--patch"))
	case "rm":
		gitDiscard(l, (forced || slices.Contains(args, ".")) && !getopt.HasLong(args, "--cached"))
	case "checkout-index":
		gitDiscard(l, forced)
	case "read-tree":
		gitDiscard(l, getopt.HasLong(args, "--reset"))
	case "reset":
		gitDiscard(l, getopt.HasLong(args, "--merge") || getopt.HasLong(args, "--keep"))
	case "clean":
		forced = forced || slices.ContainsFunc(own, func(a string) bool { return strings.EqualFold(a, "clean.requireforce=false") })
		if forced && !getopt.CertainShort(args, "n", "e") && !getopt.HasLong(args, "--dry-run") {
			l.Ask("git-clean", "deletes files that git does not track")
		}
	case "stash":
		if verb == "drop" || verb == "clear" {
			l.Ask("git-stash-drop", "deletes stashed changes")
		}
	case "worktree", "submodule":
		gitDiscard(l, (verb == "remove" || verb == "deinit") && forced)
	default:
		if expires(words[0], verb, args) {
			l.Ask("git-expire", "deletes commits or names of commits that could still be restored")
		}
	}
}

func gitDiscard(l *track.Line, found bool) {
	if found {
		l.Ask("git-discard", "throws away uncommitted changes")
	}
}

// checkoutDiscards reports whether git checkout overwrites files, rather than
// going to another branch.
func checkoutDiscards(args []string) bool {
	if getopt.CertainShort(args, "f", "bB") || getopt.HasLong(args, "--force") || getopt.HasLong(args, "--pathspec-from-file") {
		return true
	}
	if getopt.HasShort(args, "pbBt") || getopt.HasLong(args, "--patch") || getopt.HasLong(args, "--orphan") || getopt.HasLong(args, "--track") || getopt.HasLong(args, "--ours") || getopt.HasLong(args, "--theirs") {
		return false
	}
	if i := slices.Index(args, "--"); i >= 0 {
		return i+1 < len(args)
	}
	words := getopt.PlainWords(args)
	return len(words) > 1 || len(words) == 1 && looksLikeFile(words[0])
}

// looksLikeFile reports whether a word names files rather than a branch or tag.
func looksLikeFile(word string) bool {
	if word == "." || word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, ":") || strings.ContainsAny(word, "*?[") || strings.HasSuffix(word, "/") {
		return true
	}
	ending := path.Ext(word)
	stem := strings.TrimSuffix(path.Base(word), ending)
	return len(ending) > 1 && strings.Trim(ending[1:], "abcdefghijklmnopqrstuvwxyz") == "" && strings.Trim(stem, "v0123456789.") != ""
}

// expires reports whether a subcommand deletes what makes commits reachable.
func expires(subcommand, verb string, args []string) bool {
	switch subcommand {
	case "reflog":
		return verb == "expire" || verb == "delete"
	case "gc":
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--prune=") })
	case "prune":
		return !getopt.HasShort(args, "n") && !getopt.HasLong(args, "--dry-run")
	case "update-ref":
		return getopt.HasShort(args, "d") || getopt.HasLong(args, "--stdin")
	case "symbolic-ref":
		return getopt.HasShort(args, "d") || getopt.HasLong(args, "--delete")
	case "filter-branch", "filter-repo":
		return true
	}
	return false
}

// OtherVersioning judges Mercurial and Subversion.
func OtherVersioning(l *track.Line, name string, rest []string) {
	words := getopt.PlainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "hg":
		if getopt.HasLong(rest, "--config") {
			l.Ask("hg-exec", "makes hg run another program")
		}
		gitDiscard(l, verb == "purge" || verb == "strip" || verb == "revert" || getopt.HasShort(rest, "C") || getopt.HasLong(rest, "--clean"))
	case "svn":
		if getopt.HasLong(rest, "--config-option") || getopt.HasLong(rest, "--config-dir") || getopt.HasLong(rest, "--editor-cmd") || getopt.HasLong(rest, "--diff-cmd") || getopt.HasLong(rest, "--diff3-cmd") {
			l.Ask("svn-exec", "makes svn run another program")
		}
		gitDiscard(l, verb == "revert")
	case "bfg":
		l.Ask("git-expire", "deletes commits or names of commits that could still be restored")
	}
}
