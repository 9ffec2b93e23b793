package shell

import (
	"slices"
	"strings"
)

const gitRunsProgram = "makes git run another program"

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
			j.gitSetting("git-exec", name, unknown, words)
		case a == "-c" && i+1 < len(own):
			name, value, _ := strings.Cut(own[i+1], "=")
			j.gitSetting("git-exec", name, value, words)
		case strings.HasPrefix(a, "--exec-path="):
			j.ask("git-exec", gitRunsProgram)
		}
	}
	for _, a := range words {
		if strings.Contains(a, "ext::") || strings.Contains(a, "fd::") {
			j.ask("git-exec", gitRunsProgram)
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
		j.gitProgramOption(args, "--upload-pack", "--receive-pack", "--exec")
	case "grep":
		j.gitProgramOption(args, "-O", "--open-files-in-pager")
	case "difftool":
		j.gitProgramOption(args, "-x", "--extcmd")
	case "mergetool", "filter-branch", "daemon", "instaweb", "send-email", "imap-send", "shell", "cvsserver":
		j.ask("git-exec", gitRunsProgram)
	case "rebase":
		j.gitText(optionValues(args, "-x", "--exec"))
	case "bisect":
		if i := slices.Index(args, "run"); i >= 0 {
			j.argv(args[i+1:], situation{})
		}
	case "submodule":
		if i := slices.Index(args, "foreach"); i >= 0 {
			j.gitText([]string{strings.Join(plainWords(args[i+1:]), " ")})
		}
	case "config":
		j.gitConfig(args)
	case "maintenance":
		if slices.Contains(args, "start") || slices.Contains(args, "register") {
			j.ask("runs-later", "makes a program run later or at login")
		}
	}
}

// gitClone judges new repositories: their settings and hooks, and where they are
// written.
func (j *judge) gitClone(verb string, args []string) {
	for _, setting := range optionValues(args, "-c", "--config") {
		name, value, _ := strings.Cut(setting, "=")
		j.gitSetting("git-exec", name, value, nil)
	}
	j.gitProgramOption(args, "--template", "--upload-pack")
	if verb == "clone" {
		j.gitProgramOption(args, "-u")
	}
	words := wrapper{values: "cujbo", long: " --config --upload-pack --template --branch --depth --origin --reference --jobs --filter --shallow-since --separate-git-dir --initial-branch --object-format "}.rest(args)
	if verb == "clone" && len(words) > 1 || verb == "init" && len(words) > 0 {
		j.write(words[len(words)-1])
	}
}

// gitProgramOption judges options whose value is a program.
func (j *judge) gitProgramOption(args []string, options ...string) {
	for _, a := range args {
		for _, o := range options {
			name, _, _ := strings.Cut(a, "=")
			if strings.HasPrefix(o, "--") && hasLong([]string{name}, o) || !strings.HasPrefix(o, "--") && strings.HasPrefix(a, o) && !strings.HasPrefix(a, "--") {
				j.ask("git-exec", gitRunsProgram)
			}
		}
		if a == "--" {
			return
		}
	}
}

// gitText judges text that git passes to a shell.
func (j *judge) gitText(texts []string) {
	for _, text := range texts {
		if dynamic(text) {
			j.ask("git-exec", gitRunsProgram)
			continue
		}
		j.inSubshell(func() { j.script(text) })
	}
}

// rest returns the plain words of a command line, without options and the values
// of those that take one.
func (w wrapper) rest(args []string) []string {
	var words []string
	for len(args) > 0 {
		args = w.inner(args)
		if len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	return words
}
