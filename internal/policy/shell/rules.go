package shell

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/files"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/machine"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/remote"
	"hermes/internal/policy/shell/track"
	"hermes/internal/policy/shell/vcs"
)

// rules judges one command without its wrappers. args[0] is the command.
func (j *judge) rules(name string, args []string, s track.Situation) {
	rest := args[1:]
	remote.Sql(j.Line, name, rest, s.In)
	files.RanAfterChmod(j.Line, args)
	j.setsLater(name, rest)
	vcs.OtherVersioning(j.Line, name, rest)
	j.remote(name, rest, s)
	machine.Persists(j.Line, name, rest)
	machine.Accounts(j.Line, name, rest)
	machine.System(j.Line, name, rest)
	remote.Tools(j.Line, name, rest, s)
	if !j.Probing { // the program around it counts as a writer of all that it names
		files.Named(j.Line, name, rest, s)
	}
	files.Uploads(j.Line, name, rest, s)
	files.Recursive(j.Line, name, rest)
	files.Overwrites(j.Line, name, rest, s)
	files.Loses(j.Line, name, rest, s)
	remote.Applies(j.Line, name, rest, s)
	j.builds(name, rest, s)
	j.runsWritten(args)
	files.ScriptArguments(j.Line, name, rest)
	defer files.Records(j.Line, name, rest, s)
	if !program.IsShell(name) && !code.IsInterpreter(name) {
		j.hiddenTexts(name, rest)
	}
	j.otherAgent(name, rest)
	j.optionPrograms(name, rest, s.In)
	files.Archives(j.Line, name, rest)
	machine.Machine(j.Line, name, rest)
	machine.PackageSources(j.Line, name, rest)
	switch name {
	case "rm", "grm", "srm", "trash-rm", "wipe", "sdelete":
		files.Remove(j.Line, rest)
	case "rimraf", "del-cli":
		files.Remove(j.Line, append([]string{"-r"}, rest...))
	case "unlink", "shred":
		files.Shred(j.Line, name, rest)
	case "del", "erase", "rd", "rmdir", "remove-item", "ri":
		files.RemoveWindows(j.Line, name, rest)
	case "chmod":
		files.Chmod(j.Line, rest)
	case "chown", "chgrp":
		if getopt.HasShort(rest, "R") || getopt.HasLong(rest, "--recursive") {
			j.Ask("recursive-chown", "changes the owner of a folder and everything in it")
		}
	case "dd":
		files.Dd(j.Line, rest)
	case "tee", "sponge":
		j.WriteAll(getopt.PlainWords(rest))
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "copy", "move":
		files.Copy(j.Line, name, rest)
	case "sed", "gsed":
		files.Sed(j.Line, rest)
		if getopt.HasShort(rest, "i") || getopt.HasLong(rest, "--in-place") {
			j.WriteAll(getopt.PlainWords(rest))
		}
	case "truncate":
		j.WriteAll(getopt.PlainWords(rest))
	case "curl", "wget":
		files.Download(j.Line, name, rest)
	case "find", "gfind":
		files.Find(j.Line, j, rest, s)
	case "fd", "fdfind":
		files.Fd(j.Line, j, rest, s)
	case "git":
		vcs.Git(j.Line, j, rest)
	case "kill":
		machine.Kill(j.Line, rest, s)
	case "pkill", "killall", "killall5", "taskkill", "stop-process":
		machine.KillByName(j.Line, name, rest)
	case "hermes":
		machine.Hermes(j.Line, rest, s.Background)
	case "eval":
		j.eval(rest)
	case "source", ".":
		j.source(rest, s)
	default:
		j.moreRules(name, rest, s)
	}
}

// moreRules applies the rules that cover families of names.
func (j *judge) moreRules(name string, rest []string, s track.Situation) {
	switch {
	case program.IsShell(name):
		j.shell(name, rest, s)
	case code.IsInterpreter(name):
		j.interpreter(name, rest, s)
	case remote.Containers(j.Line, j, name, rest, s):
	case machine.Formats(j.Line, name, rest), machine.Stops(j.Line, name, rest), machine.Services(j.Line, name, rest), machine.Packages(j.Line, name, rest):
		j.afterMarker(rest, s)
	default:
		j.hidden(name, rest, s)
	}
}

func (j *judge) eval(rest []string) {
	text := strings.Join(rest, " ")
	if strings.Contains(text, lex.FromDownload) {
		j.Ask("download-to-shell", "runs a download as shell commands")
	}
	j.Ask("eval", "runs a command that is built at run time")
	if !lex.Dynamic(text) {
		j.Script(text)
	}
}

// otherAgent judges programs that let another model work on this machine: it knows
// neither the approvals nor the rules of this session.
func (j *judge) otherAgent(name string, rest []string) {
	switch name {
	case "claude", "codex", "gemini", "aider", "opencode", "cursor-agent", "amp", "crush", "qwen", "auggie", "kiro-cli", "openhands", "interpreter":
	case "gh":
		if slices.Contains(getopt.PlainWords(rest), "alias") {
			j.hiddenTexts("", rest)
		}
		return
	default:
		return
	}
	if getopt.AsksHelp(rest) || getopt.CertainOption(rest, func(a string) bool { return a == "-v" || a == "-h" }) {
		return
	}
	j.Ask("other-agent", "starts another agent, which does not know what this session may do")
}

// builds judges build tools: those that take their commands from a file that the
// same line wrote, or from their input.
func (j *judge) builds(name string, rest []string, s track.Situation) {
	if words := getopt.PlainWords(rest); name == "go" && s.In.Fed && len(words) > 1 && words[0] == "run" && program.IsInput(words[1]) {
		j.codeInput(s)
	}
	list := program.ProjectFiles(name)
	if list == "" {
		return
	}
	for file := range j.Files {
		base := strings.ToLower(path.Base(file))
		if strings.Contains(list, " "+base+" ") || strings.HasSuffix(base, ".mk") && strings.HasSuffix(name, "make") {
			j.Ask("write-and-run", "runs commands from a file that the same command wrote")
		}
	}
	if !strings.HasSuffix(name, "make") {
		return
	}
	for i, a := range rest {
		value, attached := strings.CutPrefix(a, "-f")
		if long, ok := strings.CutPrefix(a, "--file="); ok {
			value, attached = long, true
		}
		if long, ok := strings.CutPrefix(a, "--makefile="); ok {
			value, attached = long, true
		}
		if (a == "-f" || a == "--file" || a == "--makefile") && i+1 < len(rest) {
			value, attached = rest[i+1], true
		}
		if !attached {
			continue
		}
		if program.IsInput(value) && s.In.Fed {
			j.Ask("pipe-to-shell", "runs commands from its input")
		}
		j.runsFile(value, false, nil)
	}
}

// remote judges commands that give another machine a shell here, or a way in.
func (j *judge) remote(name string, rest []string, s track.Situation) {
	if program.ShowsText(name) {
		return
	}
	for _, a := range rest {
		j.Socket(a)
	}
	if s.In.Shell && (program.IsNetcat(name) || name == "socat" || name == "telnet" || name == "openssl" || name == "websocat") {
		j.Ask("remote-shell", "gives another machine a shell on this one")
	}
	switch {
	case program.IsNetcat(name):
		remote.Netcat(j.Line, rest)
	case name == "socat":
		remote.Socat(j.Line, rest)
	case name == "autossh":
		remote.SSHOptions(j.Line, j, rest, "M")
	case remote.OpensAccess(name, rest):
		j.Ask("remote-access", "opens this machine to other machines")
	case strings.HasPrefix(name, "python") && slices.Contains(rest, "http.server"):
		remote.Serves(j.Line, rest)
	}
}
