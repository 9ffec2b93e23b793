// Package vcs judges what version control loses or sends: changes that are thrown away,
// history that is overwritten (git.go), settings and options that run programs (run.go).
package vcs

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// discards judges subcommands that throw away changes or commits.
func discards(l *track.Line, own, words []string) {
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

// keeps judges what version control puts into a repository, which sends it with the next push: files, and the texts of commits
// and tags.
func keeps(l *track.Line, verb string, args []string) {
	adds := lex.Within("add stage addremove commit ci import update-index hash-object record", verb)
	if !adds && !lex.Within("tag notes branch commit-tree merge revert describe new amend", verb) {
		return
	}
	l.Leaves = true
	everywhere := getopt.HasShort(args, "A") || getopt.HasLong(args, "--all") && verb != "commit" || getopt.HasLong(args, "--addremove") || verb == "addremove"
	all := everywhere || getopt.HasLong(args, "--all") || getopt.HasShort(args, "a") || slices.Contains(args, ".")
	named := getopt.PlainWords(getopt.WithoutValues(args, "mFCctl"))
	for i, w := range named { // from the top of the repository
		named[i] = strings.TrimPrefix(strings.TrimPrefix(w, ":(top)"), ":/")
	}
	secret := slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, lex.FromSecret) }) ||
		slices.ContainsFunc(slices.Concat(getopt.OptionValues(args, "-F", "--file"), getopt.OptionValues(args, "-l", "--logfile")), l.SecretWord)
	if adds {
		secret = secret || slices.ContainsFunc(named, l.SecretWord) || all && l.MadeSecrets() ||
			(everywhere && len(named) == 0 || slices.Contains(named, "")) && l.SecretWord(".")
	}
	if secret {
		l.Ask("secret-commit", "puts a secret file into the repository")
	}
}

// OtherVersioning judges version control other than git.
func OtherVersioning(l *track.Line, name string, rest []string) {
	words := getopt.PlainWords(rest)
	verb := getopt.At(words, 0)
	switch name {
	case "hg", "svn", "jj", "fossil", "bzr", "brz", "cvs", "darcs", "pijul", "sl":
		if i := slices.Index(rest, verb); i >= 0 {
			keeps(l, verb, rest[i+1:])
		}
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

// push judges git push.
func push(l *track.Line, args []string) {
	forced := getopt.HasShort(args, "f") || getopt.HasLong(args, "--force") || getopt.HasLong(args, "--force-with-lease") || getopt.HasLong(args, "--mirror")
	deleted := getopt.HasShort(args, "d") || getopt.HasLong(args, "--delete") || getopt.HasLong(args, "--prune")
	for _, ref := range getopt.PlainWords(args) {
		forced = forced || strings.HasPrefix(ref, "+")
		deleted = deleted || len(ref) > 1 && ref[0] == ':'
	}
	words := getopt.PlainWords(args)
	if len(words) > 0 && slices.Contains(l.Remotes, words[0]) {
		l.Ask("git-remote", sendsElsewhere)
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

// remote judges a remote that gets another address, and remembers new ones.
func remote(l *track.Line, words []string) {
	switch {
	case len(words) > 2 && words[0] == "set-url":
		l.Ask("git-remote", sendsElsewhere)
	case len(words) > 1 && words[0] == "add" && len(l.Remotes) >= lex.MaxFiles:
		l.Exhausted()
	case len(words) > 1 && words[0] == "add":
		l.Remotes = append(l.Remotes, words[len(words)-2])
	}
}

// sendsElsewhere is why a change of a remote asks.
const sendsElsewhere = "changes where git sends the repository"

// settingRuns reports whether a git setting makes git run a program that it would
// not run without it.
func settingRuns(name, section, last, value string) bool {
	switch {
	case section == "alias":
		return true
	case strings.Contains(value, "ext::") || strings.Contains(value, "fd::"):
		return true
	case value == "" || value == "/dev/null":
		return false
	case section == "pager" || last == "pager":
		return value != "true" && value != "false" && !environ.HarmlessCommand(environ.PagerCommand, value)
	case last == "editor":
		return !environ.HarmlessCommand(environ.EditorCommand, value)
	case last == "sshcommand":
		return !environ.HarmlessCommand(environ.SshCommand, value)
	case last == "fsmonitor":
		return value != "true" && value != "false"
	case section == "credential" && last == "helper":
		return !slices.Contains([]string{"cache", "store", "osxkeychain", "manager", "manager-core", "wincred", "libsecret"}, strings.Fields(value)[0])
	case last == "insteadof" || last == "pushinsteadof":
		return program.Host(strings.TrimSuffix(strings.TrimPrefix(name, "url."), "."+last)) != program.Host(value)
	case section == "protocol":
		return name == "protocol.allow" || strings.HasPrefix(name, "protocol.ext") || strings.HasPrefix(name, "protocol.fd")
	case section == "submodule" && last == "update":
		return strings.HasPrefix(value, "!") || lex.Dynamic(value)
	case last == "program":
		return !slices.Contains([]string{"gpg", "gpg2", "gpgsm", "ssh-keygen", "op-ssh-sign"}, value)
	}
	return slices.Contains(runningSections, section) || slices.Contains(runningSettings, last)
}

// runningSections are sections of git's settings that name programs or other
// files with settings.
var runningSections = []string{"include", "includeif", "filter", "hook", "guitool", "browser", "man", "instaweb", "web"}

// runningSettings are last parts of settings whose value is a program, or a
// folder with programs.
var runningSettings = []string{
	"hookspath", "askpass", "gitproxy", "alternaterefscommand", "external", "textconv", "command", "cmd", "driver", "difffilter", "templatedir", "uploadpack", "receivepack",
	"vcs", "tunnel", "packobjectshook", "smtpserver", "sendmailcmd", "tocmd", "cccmd", "headercmd", "defaultkeycommand", "helper", "execpath", "httpd",
}

// runsProgram is why git with another program asks.
const runsProgram = "makes git run another program"

// programOption judges options whose value is a program.
func programOption(l *track.Line, args []string, options ...string) {
	for _, a := range args {
		for _, o := range options {
			name, _, _ := strings.Cut(a, "=")
			if strings.HasPrefix(o, "--") && getopt.HasLong([]string{name}, o) || !strings.HasPrefix(o, "--") && strings.HasPrefix(a, o) && !strings.HasPrefix(a, "--") {
				l.Ask("git-exec", runsProgram)
			}
		}
		if a == "--" {
			return
		}
	}
}
