package shell

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
	"hermes/internal/policy/shell/vcs"
)

// git judges commands that discard work, here or on a server.
func (j *judge) git(rest []string) {
	own, words := program.GitCall(rest)
	j.gitRuns(own, words)
	vcs.GitDiscards(j.Line, own, words)
	if len(words) == 0 {
		return
	}
	args := words[1:]
	switch words[0] {
	case "reset":
		if getopt.HasLong(args, "--hard") {
			j.Ask("git-reset-hard", "discards uncommitted changes")
		}
	case "push":
		vcs.Push(j.Line, args)
	case "remote":
		vcs.GitRemote(j.Line, getopt.PlainWords(args))
	case "add", "stage", "commit":
		all := getopt.HasShort(args, "aA") || getopt.HasLong(args, "--all") || slices.Contains(args, ".")
		if slices.ContainsFunc(getopt.PlainWords(getopt.WithoutValues(args, "mFCct")), j.SecretWord) || all && j.MadeSecrets() {
			j.Ask("secret-commit", "puts a secret file into the repository")
		}
	case "branch":
		if (getopt.HasShort(args, "f") || getopt.HasLong(args, "--force")) && !getopt.HasShort(args, "dD") {
			j.Ask("git-branch-move", "moves a branch away from its commits")
		}
		// -d refuses to delete what is not merged; a branch of a server is only a copy.
		if getopt.HasShort(args, "D") || (getopt.HasShort(args, "d") || getopt.HasLong(args, "--delete")) && (getopt.HasShort(args, "f") || getopt.HasLong(args, "--force")) {
			j.Ask("git-branch-delete", "deletes a branch")
		}
	}
}

// gitConfig judges git config: a setting may run a program whenever git is used.
func (j *judge) gitConfig(args []string) {
	for _, file := range getopt.OptionValues(args, "-f", "--file") {
		j.Write(file)
	}
	for _, reading := range []string{"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--unset", "--unset-all", "--remove-section", "--rename-section", "--edit", "-e"} {
		if slices.Contains(args, reading) {
			return
		}
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
		j.gitSetting("git-config", words[0], words[1], nil)
	}
}

// gitSetting judges one setting. words is the command that it is given to; an
// alias in it is followed.
func (j *judge) gitSetting(key, name, value string, words []string) {
	name = strings.ToLower(name)
	section, _, _ := strings.Cut(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if section == "alias" && !lex.Dynamic(value) {
		j.gitAlias(value, words)
		return
	}
	if section == "remote" && (last == "url" || last == "pushurl") || last == "pushremote" && program.IsAddress(value) {
		j.Ask("git-remote", vcs.SendsElsewhere)
	}
	if lex.Dynamic(section) || lex.Dynamic(last) || vcs.SettingRuns(name, section, last, value) {
		j.Ask(key, "changes a git setting that decides what runs")
	}
}

// gitAlias judges what an alias is short for: another git command, or shell text.
func (j *judge) gitAlias(value string, words []string) {
	if text, ok := strings.CutPrefix(value, "!"); ok {
		j.Ask("git-exec", vcs.RunsProgram)
		j.InSubshell(func() { j.script(text) })
		return
	}
	j.InSubshell(func() {
		j.script("git " + value)
		if len(words) > 1 {
			j.git(append(strings.Fields(value), words[1:]...))
		}
	})
}

// gitRuns judges options and subcommands with which git runs other programs. own
// are the options before the subcommand, words the rest.
func (j *judge) gitRuns(own, words []string) {
	for i, a := range own {
		setting, joined := strings.CutPrefix(a, "--config-env=")
		if a == "--config-env" && i+1 < len(own) {
			setting, joined = own[i+1], true
		}
		switch {
		case joined:
			name, _, _ := strings.Cut(setting, "=")
			j.gitSetting("git-exec", name, lex.Unknown, words)
		case a == "-c" && i+1 < len(own):
			name, value, _ := strings.Cut(own[i+1], "=")
			j.gitSetting("git-exec", name, value, words)
		case strings.HasPrefix(a, "--exec-path="):
			j.Ask("git-exec", vcs.RunsProgram)
		}
	}
	for _, a := range words {
		if strings.Contains(a, "ext::") || strings.Contains(a, "fd::") {
			j.Ask("git-exec", vcs.RunsProgram)
		}
	}
	if len(words) > 0 {
		j.gitSubcommandRuns(words[0], words[1:])
	}
}

func (j *judge) gitSubcommandRuns(verb string, args []string) {
	switch verb {
	case "clone", "init":
		j.gitClone(verb, args)
	case "fetch", "pull", "ls-remote", "fetch-pack", "push", "send-pack", "archive":
		vcs.ProgramOption(j.Line, args, "--upload-pack", "--receive-pack", "--exec")
	case "grep":
		vcs.ProgramOption(j.Line, args, "-O", "--open-files-in-pager")
	case "difftool":
		vcs.ProgramOption(j.Line, args, "-x", "--extcmd")
	case "mergetool", "filter-branch", "daemon", "instaweb", "send-email", "imap-send", "shell", "cvsserver":
		j.Ask("git-exec", vcs.RunsProgram)
	case "rebase":
		j.gitText(getopt.OptionValues(args, "-x", "--exec"))
	case "bisect":
		if i := slices.Index(args, "run"); i >= 0 {
			j.argv(args[i+1:], track.Situation{})
		}
	case "submodule":
		if i := slices.Index(args, "foreach"); i >= 0 {
			j.gitText([]string{strings.Join(getopt.PlainWords(args[i+1:]), " ")})
		}
	case "config":
		j.gitConfig(args)
	case "maintenance":
		if slices.Contains(args, "start") || slices.Contains(args, "register") {
			j.Ask("runs-later", "makes a program run later or at login")
		}
	}
}

// gitClone judges new repositories: their settings and hooks, and where they are
// written.
func (j *judge) gitClone(verb string, args []string) {
	for _, setting := range getopt.OptionValues(args, "-c", "--config") {
		name, value, _ := strings.Cut(setting, "=")
		j.gitSetting("git-exec", name, value, nil)
	}
	vcs.ProgramOption(j.Line, args, "--template", "--upload-pack")
	if verb == "clone" {
		vcs.ProgramOption(j.Line, args, "-u")
	}
	words := getopt.Wrapper{Values: "cujbo", Long: " --config --upload-pack --template --branch --depth --origin --reference --jobs --filter --shallow-since --separate-git-dir --initial-branch --object-format "}.Rest(args)
	if verb == "clone" && len(words) > 1 || verb == "init" && len(words) > 0 {
		j.Write(words[len(words)-1])
	}
}

// gitText judges text that git passes to a shell.
func (j *judge) gitText(texts []string) {
	for _, text := range texts {
		if lex.Dynamic(text) {
			j.Ask("git-exec", vcs.RunsProgram)
			continue
		}
		j.InSubshell(func() { j.script(text) })
	}
}
