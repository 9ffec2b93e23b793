package shell

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/files"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/remote"
	"hermes/internal/policy/shell/track"
)

// launches judges programs that run a command of their own arguments later, again
// or elsewhere. It makes their command exact, where hidden would only guess it. It
// reports false for other programs.
func (j *judge) launches(name string, args []string, s track.Situation) bool {
	switch name {
	case "su":
		if !j.optionScript(args) {
			j.shellInput(s)
		}
	case "watch":
		words := getopt.Wrapper{Values: "nq", Long: " --interval --equexit "}.Inner(args)
		j.Script(lex.ScriptText(strings.Join(words, " ")))
	case "entr":
		words := getopt.Wrapper{}.Inner(args)
		if getopt.HasShort(args[:len(args)-len(words)], "s") {
			j.Script(lex.ScriptText(strings.Join(words, " ")))
			return true
		}
		j.Command(words, track.Situation{})
	case "parallel":
		j.parallel(args, s)
	case "tmux":
		j.tmux(args)
		return false
	case "trap":
		if words := getopt.PlainWords(args); len(words) > 1 {
			j.InSubshell(func() { j.Script(lex.ScriptText(words[0])) })
			j.traps = append(j.traps, lex.ScriptText(words[0]))
		}
	case "cmake":
		inner := program.CommandOfCmake(args)
		if len(inner) == 0 {
			return false
		}
		j.Command(inner, s)
	case "alias":
		j.alias(args)
	case "ssh":
		j.ssh(args, s)
	default:
		return false
	}
	return true
}

// parallel judges GNU parallel: the command is text, to which each input is added;
// without one, each input is a command.
func (j *judge) parallel(args []string, s track.Situation) {
	inner := getopt.Wrapper{Values: "jINansPSL", Long: " --jobs --max-args --arg-file --colsep --delay --timeout --joblog --results --sshlogin --load --retries "}.Inner(args)
	at := slices.IndexFunc(inner, func(a string) bool { return strings.HasPrefix(a, ":::") })
	command, inputs := inner, []string{lex.Unknown}
	lists := getopt.OptionValues(args[:len(args)-len(inner)], "-a", "--arg-file")
	switch {
	case at >= 0 && strings.HasPrefix(inner[at], "::::"):
		command = inner[:at]
		j.reads(inner[at+1:])
	case at >= 0:
		command, inputs = inner[:at], inner[at+1:]
	case len(lists) > 0:
		j.reads(lists)
	case s.In.Known:
		inputs = strings.Split(s.In.Text, "\n")
	}
	text := strings.Join(command, " ")
	files.FromInput(j.Line, command, s.In)
	for _, in := range inputs {
		switch {
		case !j.Step() || strings.HasPrefix(in, ":::"):
		case text == "":
			j.Script(lex.ScriptText(in))
		case strings.Contains(text, "{"):
			j.Script(lex.ScriptText(program.Replacements(in).Replace(text)))
		default:
			j.Script(lex.ScriptText(text) + lex.Quoted([]string{in}))
		}
	}
}

// reads judges files whose lines become arguments, which are not followed.
func (j *judge) reads(files []string) {
	for _, f := range files {
		j.inputFrom(f)
	}
	j.Astray = true
}

// tmux judges the commands of tmux that start programs or type for the user.
func (j *judge) tmux(args []string) {
	words := getopt.Wrapper{Values: "cfLST"}.Inner(args)
	if len(words) == 0 {
		return
	}
	inner := getopt.Wrapper{Values: "cefFnstxybltpS"}.Inner(words[1:])
	switch words[0] {
	case "new", "new-session", "neww", "new-window", "splitw", "split-window", "respawnp", "respawn-pane", "respawnw", "respawn-window", "run", "run-shell", "popup", "display-popup", "if", "if-shell", "pipe-pane", "pipep":
		j.Script(lex.ScriptText(strings.Join(inner, " ")))
	case "send", "send-keys":
		j.Probe(func() { j.Script(lex.ScriptText(strings.Join(inner, " "))) })
	}
	j.hiddenTexts("tmux", inner)
}

// ssh judges a command on another machine.
func (j *judge) ssh(args []string, s track.Situation) {
	words := remote.SSHOptions(j.Line, j, args, "")
	files.Uploads(j.Line, "ssh", args, s)
	for _, w := range args[:len(args)-len(words)] {
		for _, p := range j.PathsIn(w) { // such as that of a socket, after -L
			j.Read(p)
		}
	}
	if before := args[:len(args)-len(words)]; len(before) > 0 && thisMachine(before[len(before)-1]) {
		j.Ask("runs-later", "runs a program outside of what Hermes has started, on this machine")
	}
	if len(words) == 0 {
		j.shellInput(s)
		return
	}
	j.InSubshell(func() {
		j.Enter("")
		j.Script(lex.ScriptText(strings.Join(words, " ")))
		if program.IsShell(lex.Program(words[0])) {
			j.shell(lex.Program(words[0]), words[1:], s)
		}
	})
}

// thisMachine reports whether a destination of ssh is certainly this machine.
func thisMachine(destination string) bool {
	destination = strings.TrimPrefix(destination, "ssh://")
	return program.ThisMachine(destination[strings.LastIndexByte(destination, '@')+1:])
}

// optionPrograms judges options with which a program runs another one.
func (j *judge) optionPrograms(name string, rest []string, in track.Input) {
	kind := environ.Family(name)
	for option := range strings.FieldsSeq(environ.ProgramOptions[kind]) {
		for i, a := range rest {
			if value, ok := getopt.OptionValue(kind, a, option, rest[i+1:]); ok && !environ.KnownProgram(kind, value) {
				j.Ask("option-exec", "runs a program that an option names")
			}
		}
	}
	if kind == "scp" || kind == "sftp" {
		for _, setting := range getopt.OptionValues(rest, "-o", "-o") {
			remote.SSHSetting(j.Line, j, setting)
		}
	}
	if environ.RunsByOption(j.Line, kind, rest, in) {
		j.Ask("option-exec", "runs a program that an option names")
	}
}
