package shell

import (
	"path"
	"slices"
	"strings"
)

// gitDiscards judges subcommands that throw away changes or commits.
func (j *judge) gitDiscards(own, words []string) {
	if len(words) == 0 {
		return
	}
	args := words[1:]
	verb := ""
	if plain := plainWords(args); len(plain) > 0 {
		verb = plain[0]
	}
	forced := hasShort(args, "f") || hasLong(args, "--force")
	switch words[0] {
	case "checkout":
		j.gitDiscard(checkoutDiscards(args))
	case "switch":
		j.gitDiscard(forced || hasLong(args, "--discard-changes"))
	case "restore":
		indexOnly := (certainShort(args, "S", "sU") || hasLong(args, "--staged")) && !hasShort(args, "W") && !hasLong(args, "--worktree")
		j.gitDiscard(!indexOnly && !certainShort(args, "p", "sU") && !hasLong(args, "--patch"))
	case "rm":
		j.gitDiscard((forced || slices.Contains(args, ".")) && !hasLong(args, "--cached"))
	case "checkout-index":
		j.gitDiscard(forced)
	case "read-tree":
		j.gitDiscard(hasLong(args, "--reset"))
	case "reset":
		j.gitDiscard(hasLong(args, "--merge") || hasLong(args, "--keep"))
	case "clean":
		forced = forced || slices.ContainsFunc(own, func(a string) bool { return strings.EqualFold(a, "clean.requireforce=false") })
		if forced && !certainShort(args, "n", "e") && !hasLong(args, "--dry-run") {
			j.ask("git-clean", "deletes files that git does not track")
		}
	case "stash":
		if verb == "drop" || verb == "clear" {
			j.ask("git-stash-drop", "deletes stashed changes")
		}
	case "worktree", "submodule":
		j.gitDiscard((verb == "remove" || verb == "deinit") && forced)
	default:
		if expires(words[0], verb, args) {
			j.ask("git-expire", "deletes commits or names of commits that could still be restored")
		}
	}
}

func (j *judge) gitDiscard(found bool) {
	if found {
		j.ask("git-discard", "throws away uncommitted changes")
	}
}

// checkoutDiscards reports whether git checkout overwrites files, rather than
// going to another branch.
func checkoutDiscards(args []string) bool {
	if certainShort(args, "f", "bB") || hasLong(args, "--force") || hasLong(args, "--pathspec-from-file") {
		return true
	}
	if hasShort(args, "pbBt") || hasLong(args, "--patch") || hasLong(args, "--orphan") || hasLong(args, "--track") || hasLong(args, "--ours") || hasLong(args, "--theirs") {
		return false
	}
	if i := slices.Index(args, "--"); i >= 0 {
		return i+1 < len(args)
	}
	words := plainWords(args)
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
		return !hasShort(args, "n") && !hasLong(args, "--dry-run")
	case "update-ref":
		return hasShort(args, "d") || hasLong(args, "--stdin")
	case "symbolic-ref":
		return hasShort(args, "d") || hasLong(args, "--delete")
	case "filter-branch", "filter-repo":
		return true
	}
	return false
}

// otherVersioning judges Mercurial and Subversion.
func (j *judge) otherVersioning(name string, rest []string) {
	words := plainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "hg":
		if hasLong(rest, "--config") {
			j.ask("hg-exec", "makes hg run another program")
		}
		j.gitDiscard(verb == "purge" || verb == "strip" || verb == "revert" || hasShort(rest, "C") || hasLong(rest, "--clean"))
	case "svn":
		if hasLong(rest, "--config-option") || hasLong(rest, "--config-dir") || hasLong(rest, "--editor-cmd") || hasLong(rest, "--diff-cmd") || hasLong(rest, "--diff3-cmd") {
			j.ask("svn-exec", "makes svn run another program")
		}
		j.gitDiscard(verb == "revert")
	case "bfg":
		j.ask("git-expire", "deletes commits or names of commits that could still be restored")
	}
}
