package vcs

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// git judges one call of git.
type git struct {
	*track.Line
	track.Runner
}

// Git judges commands that discard work, here or on a server, or run other programs.
func Git(l *track.Line, run track.Runner, rest []string) { git{l, run}.call(rest) }

func (g git) call(rest []string) {
	own, words := program.GitCall(rest)
	g.runs(own, words)
	discards(g.Line, own, words)
	if len(words) == 0 {
		return
	}
	args := words[1:]
	keeps(g.Line, words[0], args)
	switch words[0] {
	case "reset":
		if getopt.HasLong(args, "--hard") {
			g.Ask("git-reset-hard", "discards uncommitted changes")
		}
	case "rm", "mv":
		if getopt.HasLong(args, "--cached") {
			break
		}
		for _, w := range getopt.PlainWords(args) {
			g.Replace(w)
		}
	case "push":
		push(g.Line, args)
	case "remote":
		remote(g.Line, getopt.PlainWords(args))
	case "branch":
		if (getopt.HasShort(args, "f") || getopt.HasLong(args, "--force")) && !getopt.HasShort(args, "dD") {
			g.Ask("git-branch-move", "moves a branch away from its commits")
		}
		// -d refuses to delete what is not merged; a branch of a server is only a copy.
		if getopt.HasShort(args, "D") || (getopt.HasShort(args, "d") || getopt.HasLong(args, "--delete")) && (getopt.HasShort(args, "f") || getopt.HasLong(args, "--force")) {
			g.Ask("git-branch-delete", "deletes a branch")
		}
	}
}

// config judges git config: a setting may run a program whenever git is used.
func (g git) config(args []string) {
	for _, file := range getopt.OptionValues(args, "-f", "--file") {
		g.Write(file)
	}
	reading := []string{"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--unset", "--unset-all", "--remove-section", "--rename-section", "--edit", "-e"}
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(reading, a) }) {
		return
	}
	words := getopt.Wrapper{Values: "ft", Long: " --file --type --blob --default --comment --value --url "}.Rest(args)
	if len(words) > 0 {
		switch words[0] {
		case "get", "list", "unset", "edit", "remove-section", "rename-section":
			return
		case "set":
			words = words[1:]
		}
	}
	if len(words) > 1 {
		g.setting("git-config", words[0], words[1], nil)
	}
}

// setting judges one setting. words is the command that it is given to; an
// alias in it is followed.
func (g git) setting(key, name, value string, words []string) {
	name = strings.ToLower(name)
	section, _, _ := strings.Cut(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if section == "alias" && !lex.Dynamic(value) {
		g.alias(key, value, words)
		return
	}
	if section == "remote" && (last == "url" || last == "pushurl") || last == "pushremote" && program.IsAddress(value) {
		g.Ask("git-remote", sendsElsewhere)
	}
	if lex.Dynamic(section) || lex.Dynamic(last) || settingRuns(name, section, last, value) {
		g.Ask(key, "changes a git setting that decides what runs")
	}
}

// alias judges what an alias is short for: another git command, or shell text.
func (g git) alias(key, value string, words []string) {
	if text, ok := strings.CutPrefix(value, "!"); ok {
		g.Ask(key, runsProgram)
		g.InSubshell(func() { g.Script(text) })
		return
	}
	g.InSubshell(func() {
		g.Script("git " + value + lex.Quoted(words[min(1, len(words)):]))
	})
}

// runs judges options and subcommands with which git runs other programs. own
// are the options before the subcommand, words the rest.
func (g git) runs(own, words []string) {
	for i, a := range own {
		setting, joined := strings.CutPrefix(a, "--config-env=")
		if a == "--config-env" && i+1 < len(own) {
			setting, joined = own[i+1], true
		}
		switch {
		case joined:
			name, _, _ := strings.Cut(setting, "=")
			g.setting("git-exec", name, lex.Unknown, words)
		case a == "-c" && i+1 < len(own):
			name, value, _ := strings.Cut(own[i+1], "=")
			g.setting("git-exec", name, value, words)
		case strings.HasPrefix(a, "--exec-path="):
			g.Ask("git-exec", runsProgram)
		}
	}
	for _, a := range words {
		if strings.Contains(a, "ext::") || strings.Contains(a, "fd::") {
			g.Ask("git-exec", runsProgram)
		}
	}
	if len(words) > 0 {
		g.subcommandRuns(words[0], words[1:])
	}
}

func (g git) subcommandRuns(verb string, args []string) {
	switch verb {
	case "clone", "init":
		g.clone(verb, args)
	case "fetch", "pull", "ls-remote", "fetch-pack", "push", "send-pack", "archive":
		programOption(g.Line, args, "--upload-pack", "--receive-pack", "--exec")
	case "grep":
		programOption(g.Line, args, "-O", "--open-files-in-pager")
	case "difftool":
		programOption(g.Line, args, "-x", "--extcmd")
	case "mergetool", "filter-branch", "daemon", "instaweb", "send-email", "imap-send", "shell", "cvsserver":
		g.Ask("git-exec", runsProgram)
	case "rebase":
		g.texts(getopt.OptionValues(args, "-x", "--exec"))
	case "bisect":
		if i := slices.Index(args, "run"); i >= 0 {
			g.Command(args[i+1:], track.Situation{})
		}
	case "submodule":
		if i := slices.Index(args, "foreach"); i >= 0 {
			g.texts([]string{strings.Join(getopt.Wrapper{}.Inner(args[i+1:]), " ")})
		}
	case "config":
		g.config(args)
	case "maintenance":
		if slices.Contains(args, "start") || slices.Contains(args, "register") {
			g.Ask("runs-later", "makes a program run later or at login")
		}
	}
}

// clone judges new repositories: their settings and hooks, and where they are
// written.
func (g git) clone(verb string, args []string) {
	for _, setting := range getopt.OptionValues(args, "-c", "--config") {
		name, value, _ := strings.Cut(setting, "=")
		g.setting("git-exec", name, value, nil)
	}
	programOption(g.Line, args, "--template", "--upload-pack")
	if verb == "clone" {
		programOption(g.Line, args, "-u")
	}
	words := getopt.Wrapper{Values: "cujbo", Long: " --config --upload-pack --template --branch --depth --origin --reference --jobs --filter --shallow-since --separate-git-dir --initial-branch --object-format "}.Rest(args)
	if verb == "clone" && len(words) > 1 || verb == "init" && len(words) > 0 {
		g.Write(words[len(words)-1])
	}
}

// texts judges text that git passes to a shell.
func (g git) texts(texts []string) {
	for _, text := range texts {
		if lex.Dynamic(text) {
			g.Ask("git-exec", runsProgram)
			continue
		}
		g.InSubshell(func() { g.Script(text) })
	}
}
