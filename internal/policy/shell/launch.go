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
		j.Command(words)
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

// parallel judges GNU parallel: the command is text, to which each input is added;
// without one, each input is a command.
func (j *judge) parallel(args []string, s track.Situation) {
	inner := getopt.Wrapper{Values: "jINansPSL", Long: " --jobs --max-args --arg-file --colsep --delay --timeout --joblog --results --sshlogin --load --retries "}.Inner(args)
	at := slices.IndexFunc(inner, func(a string) bool { return strings.HasPrefix(a, ":::") })
	command, inputs := inner, []string{lex.Unknown}
	switch {
	case at >= 0:
		command, inputs = inner[:at], inner[at+1:]
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

// search judges find: -delete, and the commands that it runs.
func (j *judge) search(rest []string, s track.Situation) {
	roots, expression := program.FindRoots(rest)
	e := &program.FindExpression{Rest: expression}
	e.Any(false)
	for _, a := range e.Actions {
		switch {
		case a.Name == "-delete":
			j.Ask("find-delete", "deletes every file that the search finds")
			for _, root := range roots {
				j.Name(root)
				files.DestroysFound(j.Line, root, a.Narrowed)
			}
		case a.File != "":
			j.Write(a.File)
		case len(a.Command) > 0:
			j.runsOnFound(a, roots, expression, s)
		}
	}
}

// runsOnFound judges a command that find runs with what it finds.
func (j *judge) runsOnFound(a program.FindAction, roots, expression []string, s track.Situation) {
	found := files.FoundBy(j.Line, expression)
	changes := program.ChangesFiles(a.Command)
	if !changes {
		found += lex.FromInput[1:]
	}
	if !a.Narrowed && slices.ContainsFunc(roots, j.DestroysVital) {
		found += lex.FromVital[1:]
	}
	j.argv(program.Replaced(a.Command, "{}", found), track.Situation{Background: s.Background})
	if changes {
		j.Ask("find-exec-delete", "deletes every file that the search finds")
	}
	for _, root := range roots { // what it finds is below these
		if changes || program.DestroysFiles(a.Command) {
			files.DestroysFound(j.Line, root, a.Narrowed)
		}
		below := root + "/" + lex.Filled
		if !a.Narrowed {
			below = root
		}
		j.argv(program.Replaced(a.Command, "{}", below), track.Situation{Background: s.Background})
	}
}

// searchWithFd judges fd, whose first word is a pattern and whose others are the
// folders that it searches.
func (j *judge) searchWithFd(rest []string, s track.Situation) {
	for i, a := range rest {
		if a != "-x" && a != "-X" && a != "--exec" && a != "--exec-batch" {
			continue
		}
		found := files.FoundBy(j.Line, rest[:i])
		command := rest[i+1:]
		if !slices.ContainsFunc(command, func(a string) bool { return strings.Contains(a, "{}") }) {
			command = append(slices.Clone(command), "{}")
		}
		if program.ChangesFiles(command) {
			j.Ask("find-exec-delete", "deletes every file that the search finds")
		}
		j.argv(program.Replaced(command, "{}", found), track.Situation{Background: s.Background})
		if words := getopt.PlainWords(rest[:i]); program.DestroysFiles(command) && (len(words) == 0 || strings.Trim(words[0], ".*^$") == "") {
			roots := []string{"."}
			if len(words) > 1 {
				roots = words[1:]
			}
			for _, root := range roots {
				files.DestroysFound(j.Line, root, false)
			}
		}
		return
	}
}
