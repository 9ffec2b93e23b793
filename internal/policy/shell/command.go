package shell

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/files"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/machine"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/remote"
	"hermes/internal/policy/shell/track"
)

// Command judges the words of one command: wrappers first, then the rules.
func (j *judge) Command(args []string, s track.Situation) {
	if len(args) > 0 && args[0] != "" {
		j.deeper(func() { j.simple(args, s) })
	}
}

// simple judges a simple command, whose first word is not empty.
func (j *judge) simple(args []string, s track.Situation) {
	if !j.Step() {
		return
	}
	if j.seen != nil {
		j.seen(args)
	}
	if file, ok := j.hashed[args[0]]; ok {
		j.Command(append([]string{file}, args[1:]...), s)
	}
	name := lex.Program(args[0])
	j.Shows = j.Shows || j.Context.Holds != nil && (s.In.Secret || program.SenderOf(name, args[1:]) == program.NoSender && j.CallShowsSecret(args))
	j.Astray = j.Astray || name == "mkfifo" || name == "mknod"
	j.Away = j.Away || program.ActsElsewhere(name)
	if strings.HasPrefix(args[0], lex.Deferred) { // judged when the function is called
		j.hiddenWords(args[1:], s)
		return
	}
	if lex.Dynamic(name) || strings.ContainsAny(name, "*?") || name != "[" && name != "[[" && strings.Contains(name, "[") {
		j.Ask("dynamic-command", "the program that it runs is only known at run time")
	}
	for _, a := range args {
		remote.Metadata(j.Line, name, a)
	}
	if w, ok := program.WrapperOf(name); ok {
		j.wrapped(name, w, args[1:], s)
		return
	}
	machine.User(j.Line, name, args[1:])
	if j.launches(name, args[1:], s) || j.changesShell(name, args[1:]) {
		return
	}
	switch name {
	case "cd", "chdir", "pushd", "popd":
		j.Chdir(name, args[1:])
	case "read", "mapfile", "readarray", "getopts":
		j.readsInto(args, s.In)
	default:
		j.starting(name, args[1:], s, func() { j.rules(name, args, s) })
	}
}

// wrapped judges the command that a wrapper runs, and the wrapper itself.
func (j *judge) wrapped(name string, w getopt.Wrapper, args []string, s track.Situation) {
	inner := w.Inner(args)
	own := args[:len(args)-len(inner)]
	if dir, ok := program.ChosenFolder(name, own); ok {
		j.InSubshell(func() {
			j.ChangeTo(dir)
			j.Command(inner, s)
		})
	}
	if name == "sudo" || name == "doas" || name == "pkexec" || name == "runuser" {
		j.Rights++
		defer func() { j.Rights-- }()
	}
	files.Outputs(j.Line, own)
	j.optionPrograms(name, own, s.In)
	switch name {
	case "sudo":
		machine.Sudo(j.Line, own)
	case "env":
		if text, rest, ok := program.SplitText(own, inner); ok {
			j.Script("env " + lex.ScriptText(text) + lex.Quoted(rest))
			return
		}
	case "runuser":
		if !getopt.HasShort(own, "u") && !getopt.HasLong(own, "--user") { // as su
			j.launches("su", args, s)
			return
		}
	case "flock":
		if j.optionScript(own) {
			return
		}
	case "direnv", "mise":
		machine.Persists(j.Line, name, args)
	case "npx", "bunx", "pnpx", "uvx":
		remote.Fetches(j.Line, name, args)
	case "uv", "poetry", "pipenv", "pdm", "hatch":
		remote.Tools(j.Line, name, args, s)
	case "systemd-run":
		machine.Persists(j.Line, name, own)
		s.Background = true
	case "nohup", "setsid":
		s.Background = true
	case "xargs", "gxargs":
		if len(inner) == 0 { // prints its input
			return
		}
		inner = j.xargs(own, inner, s.In)
		s.Xargs, s.In = true, track.Input{}
	}
	j.hiddenTexts(name, own)
	if w.Unclear(own) {
		j.hiddenWords(args, s)
		j.hiddenTexts(name, inner[:min(1, len(inner))]) // which may be the option's value
	}
	for _, a := range own {
		switch name, value, ok := strings.Cut(a, "="); {
		case !ok:
		case lex.IsAssignment(a):
			j.assigned(name, value)
		case strings.HasPrefix(name, "BASH_FUNC_"): // a function that bash finds in its environment
			j.Ask("environment", runsAnother)
			function := strings.TrimSuffix(strings.TrimPrefix(name, "BASH_FUNC_"), "%%")
			j.Script(lex.ScriptText(function + " " + value))
		}
	}
	if len(inner) == 0 && program.OpensShell(name, own) {
		j.shellInput(s)
	}
	j.Command(inner, s)
}

// xargs judges what the input of xargs may be to the command, such as the text of a
// shell, and returns the command with the arguments that come from it.
func (j *judge) xargs(own, inner []string, in track.Input) []string {
	name := lex.Program(program.Innermost(inner))
	files.FromInput(j.Line, inner, in)
	if program.IsShell(name) && in.Known {
		j.Probe(func() { j.Script(lex.ScriptText(in.Text)) })
	}
	if !program.OnlyReads(name, nil) || program.ChangesNamed(name) {
		for _, folder := range in.Below[:min(len(in.Below), lex.MaxAlternatives)] {
			j.Name(folder + "/" + lex.Unknown)
		}
	}
	for _, file := range getopt.OptionValues(own, "-a", "--arg-file") {
		in = j.inputFrom(file)
	}
	more := []string{lex.Several}
	switch {
	case in.Secret:
		more = []string{lex.FromSecret}
	case in.Pids:
		more = []string{lex.FromSearch}
	case in.Download:
		more = []string{lex.FromDownload}
	case in.Known:
		more = strings.Fields(in.Text)
	}
	if mark := program.ReplaceMark(own); mark != "" && slices.ContainsFunc(inner, func(a string) bool { return strings.Contains(a, mark) }) {
		return program.Replaced(inner, mark, strings.Join(more, " "))
	}
	return slices.Concat(inner, more)
}

// optionScript judges the shell text that su and its relatives get with -c, of
// which they run the last one. It reports false if there is none.
func (j *judge) optionScript(args []string) (found bool) {
	for i, a := range args {
		text := ""
		switch option, value, attached := strings.Cut(a, "="); {
		case strings.HasPrefix(a, "--"):
			if len(option) < 5 || !strings.HasPrefix("--command", option) && option != "--session-command" {
				continue
			}
			text = value
			if !attached && i+1 < len(args) {
				text = args[i+1]
			}
		case len(a) > 1 && a[0] == '-' && strings.Contains(a, "c"):
			text = a[strings.IndexByte(a, 'c')+1:]
			if text == "" && i+1 < len(args) {
				text = args[i+1]
			}
		default:
			continue
		}
		j.shellText(text, nil, track.Situation{})
		found = true
	}
	return found
}

// changesShell judges builtins that change what later commands of the line see:
// positional parameters and variables. It reports false for other programs.
func (j *judge) changesShell(name string, rest []string) bool {
	switch name {
	case "set":
		j.SetParameters(rest)
	case "shift":
		j.ShiftParameters(rest)
	case "unset":
		for _, a := range getopt.PlainWords(rest) {
			if lex.Dynamic(a) {
				j.Forget()
				continue
			}
			j.Set(a, track.Exactly(""))
		}
	case "export", "declare", "local", "typeset", "readonly", "nameref":
		for _, a := range rest {
			j.declareWord(name, a)
		}
	case "let":
		for _, a := range rest {
			if at := strings.IndexAny(a, "+-*/%=<>&|^ "); at > 0 {
				j.Set(a[:at], track.Exactly(lex.Filled))
			}
		}
	default:
		return false
	}
	for _, a := range rest {
		j.indexText(a)
	}
	j.hiddenTexts(name, rest)
	return true
}

// readsInto judges read and mapfile: they set variables, and mapfile -C runs a
// command for its lines.
func (j *judge) readsInto(args []string, in track.Input) {
	if strings.HasPrefix(args[0], "mapfile") || strings.HasPrefix(args[0], "readarray") {
		j.optionText(args[1:], "-C")
	}
	for _, number := range getopt.OptionValues(args[1:], "-u", "-u") {
		if c, ok := j.Written(descriptor(number)); ok {
			in = c.Input()
		}
	}
	value := lex.Unknown
	if in.Fed || j.input.Fed {
		value = lex.FromInput
	}
	if in.Secret {
		value = lex.FromSecret + lex.FromInput[1:]
	}
	if slices.ContainsFunc(in.Roots, j.DestroysVital) {
		value += lex.FromVital[1:]
	}
	for _, a := range args[1:] {
		j.indexText(a)
		environ.UnknownVariable(j.Line, a, value)
	}
}

// optionText judges the value of a short option that is shell text.
func (j *judge) optionText(args []string, option string) {
	for i, a := range args {
		text, joined := strings.CutPrefix(a, option)
		switch {
		case !joined:
			continue
		case text == "" && i+1 < len(args):
			text = args[i+1]
		}
		j.Ask("shell-text", "runs shell commands given as an argument")
		j.Script(text)
	}
}

// runsAnother is why a change of the shell's table of programs asks.
const runsAnother = "decides which file a program's name runs"

// hashes remembers that a name runs a file.
func (j *judge) hashes(name, file string) {
	if len(j.hashed) >= lex.MaxVariables || file == name {
		j.Exhausted()
		return
	}
	if j.hashed == nil {
		j.hashed = map[string]string{}
	}
	j.hashed[name] = file
}

// setsLater judges commands that set variables or code for later commands other
// than by an assignment.
func (j *judge) setsLater(name string, rest []string) {
	switch name {
	case "make", "gmake", "bmake", "configure", "cross-env":
		environ.Assignments(j.Line, rest)
	case "systemctl", "launchctl", "tmux", "setx", "dbus-update-activation-environment":
		environ.SetsVariable(j.Line, name, rest)
	case "printf":
		if len(rest) > 1 && rest[0] == "-v" {
			j.indexText(rest[1])
			value := lex.Unknown
			if slices.ContainsFunc(rest[2:], func(a string) bool { return strings.Contains(a, lex.FromSecret) }) {
				value = lex.FromSecret
			}
			environ.UnknownVariable(j.Line, rest[1], value)
		}
	case "hash":
		if words := getopt.PlainWords(rest); getopt.HasShort(rest, "p") {
			if len(words) == 2 {
				j.hashes(words[1], words[0])
			}
			j.Ask("environment", runsAnother)
		}
	case "enable":
		if getopt.HasShort(rest, "f") {
			j.Ask("environment", "loads a library into the shell")
		}
	case "complete", "compgen":
		j.optionText(rest, "-C")
	case "bind":
		if getopt.HasShort(rest, "x") {
			j.Ask("shell-text", "runs shell commands given as an argument")
		}
	}
}
