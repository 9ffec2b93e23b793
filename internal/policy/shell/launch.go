package shell

import (
	"slices"
	"strings"
)

// launches judges programs that run a command of their own arguments later, again
// or elsewhere. It makes their command exact, where hidden would only guess it. It
// reports false for other programs.
func (j *judge) launches(name string, args []string, s situation) bool {
	switch name {
	case "su":
		if !j.optionScript(args) {
			j.shellInput(s)
		}
	case "watch":
		words := wrapper{values: "nq", long: " --interval --equexit "}.inner(args)
		j.script(scriptText(strings.Join(words, " ")))
	case "entr":
		words := wrapper{}.inner(args)
		if hasShort(args[:len(args)-len(words)], "s") {
			j.script(scriptText(strings.Join(words, " ")))
			return true
		}
		j.argv(words, situation{})
	case "parallel":
		j.parallel(args, s)
	case "tmux":
		j.tmux(args)
		return false
	case "trap":
		if words := plainWords(args); len(words) > 1 {
			j.inSubshell(func() { j.script(scriptText(words[0])) })
			j.traps = append(j.traps, scriptText(words[0]))
		}
	case "cmake":
		inner := commandOfCmake(args)
		if len(inner) == 0 {
			return false
		}
		j.argv(inner, s)
	case "alias":
		j.alias(args)
	case "ssh":
		j.ssh(args, s)
	default:
		return false
	}
	return true
}

// ssh judges a command on another machine.
func (j *judge) ssh(args []string, s situation) {
	words := j.sshOptions(args, sshValues)
	j.uploads("ssh", args, s)
	if len(words) == 0 {
		j.shellInput(s)
		return
	}
	j.inSubshell(func() {
		j.enter("")
		j.script(scriptText(strings.Join(words, " ")))
		if isShell(program(words[0])) {
			j.shell(program(words[0]), words[1:], s)
		}
	})
}

// commandOfCmake returns the command that cmake -E runs under another name.
func commandOfCmake(args []string) []string {
	if len(args) < 2 || args[0] != "-E" {
		return nil
	}
	rest := args[2:]
	as := func(words ...string) []string { return append(words, rest...) }
	switch args[1] {
	case "remove_directory":
		return as("rm", "-r")
	case "remove":
		return as("rm")
	case "rename":
		return as("mv")
	case "copy", "copy_if_different", "copy_directory", "copy_directory_if_different":
		return as("cp")
	case "create_symlink":
		return as("ln", "-s")
	case "create_hardlink":
		return as("ln")
	case "chdir":
		return as("env", "-C")
	case "make_directory":
		return as("mkdir")
	}
	return args[1:] // rm, env, time, touch, tar, cat, echo
}

// parallel judges GNU parallel: the command is text, to which each input is added;
// without one, each input is a command.
func (j *judge) parallel(args []string, s situation) {
	inner := wrapper{values: "jINansPSL", long: " --jobs --max-args --arg-file --colsep --delay --timeout --joblog --results --sshlogin --load --retries "}.inner(args)
	at := slices.IndexFunc(inner, func(a string) bool { return strings.HasPrefix(a, ":::") })
	command, inputs := inner, []string{unknown}
	switch {
	case at >= 0:
		command, inputs = inner[:at], inner[at+1:]
	case s.in.known:
		inputs = strings.Split(s.in.text, "\n")
	}
	text := strings.Join(command, " ")
	j.fromInput(command, s.in)
	for _, in := range inputs {
		switch {
		case !j.step() || strings.HasPrefix(in, ":::"):
		case text == "":
			j.script(scriptText(in))
		case strings.Contains(text, "{"):
			j.script(scriptText(replacements(in).Replace(text)))
		default:
			j.script(scriptText(text) + quoted([]string{in}))
		}
	}
}

func replacements(in string) *strings.Replacer {
	return strings.NewReplacer("{}", in, "{.}", in, "{/}", in, "{//}", in, "{/.}", in, "{1}", in, "{2}", unknown, "{3}", unknown)
}

// tmux judges the commands of tmux that start programs or type for the user.
func (j *judge) tmux(args []string) {
	words := wrapper{values: "cfLST"}.inner(args)
	if len(words) == 0 {
		return
	}
	inner := wrapper{values: "cefFnstxybltpS"}.inner(words[1:])
	switch words[0] {
	case "new", "new-session", "neww", "new-window", "splitw", "split-window", "respawnp", "respawn-pane", "respawnw", "respawn-window", "run", "run-shell", "popup", "display-popup", "if", "if-shell", "pipe-pane", "pipep":
		j.script(scriptText(strings.Join(inner, " ")))
	case "send", "send-keys":
		j.probe(func() { j.script(scriptText(strings.Join(inner, " "))) })
	}
	j.hiddenTexts("tmux", inner)
}

// xargs returns the command with the arguments that come from the input.
func xargs(own, inner []string, in input) []string {
	if hasShort(own, "a") || hasLong(own, "--arg-file") {
		in = input{}
	}
	more := []string{several}
	switch {
	case in.secret:
		more = []string{fromSecret}
	case in.pids:
		more = []string{fromSearch}
	case in.download:
		more = []string{fromDownload}
	case in.known:
		more = strings.Fields(in.text)
	}
	if mark := replaceMark(own); mark != "" && slices.ContainsFunc(inner, func(a string) bool { return strings.Contains(a, mark) }) {
		return replaced(inner, mark, strings.Join(more, " "))
	}
	return slices.Concat(inner, more)
}

// replaceMark is the text that xargs replaces by its input: the last one given.
func replaceMark(own []string) string {
	for i, a := range slices.Backward(own) {
		switch {
		case a == "-I" && i+1 < len(own):
			return own[i+1]
		case strings.HasPrefix(a, "-I"):
			return a[2:]
		case strings.HasPrefix(a, "--replace="):
			return strings.TrimPrefix(a, "--replace=")
		case strings.HasPrefix(a, "-i") && len(a) > 2:
			return a[2:]
		}
	}
	return "{}"
}
