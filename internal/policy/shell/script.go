package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// shell judges a shell that gets text as an argument, from a file or as its
// input.
func (j *judge) shell(name string, rest []string, s track.Situation) {
	if program.IsOtherShell(name) && j.otherShell(name, rest) {
		return
	}
	for i, a := range rest {
		option, value, attached := strings.Cut(a, "=")
		if !attached && i+1 < len(rest) {
			value = rest[i+1]
		}
		if option == "--rcfile" || option == "--init-file" {
			j.runsFile(value, true, nil)
		}
	}
	text, file, after := program.ShellWords(name, rest)
	switch {
	case text:
		for i, w := range after {
			j.shellText(w, after[min(i+2, len(after)):], s)
			if i == 0 && !program.Unclear(name, rest) {
				break
			}
		}
	case file:
		j.shellFile(after, s)
	default:
		j.shellInput(s)
	}
}

// otherShell judges text for shells whose language the analysis does not know.
// It reports false if there is none.
func (j *judge) otherShell(name string, rest []string) bool {
	if (name == "powershell" || name == "pwsh") && len(rest) > 0 && rest[0] != "" && rest[0][0] != '-' && !strings.HasSuffix(rest[0], ".ps1") {
		j.Command(rest, track.Situation{})
	}
	for i, a := range rest {
		low := strings.ToLower(a)
		windows := name == "cmd" && (low == "/c" || low == "/k" || low == "/r")
		power := name[0] == 'p' && len(low) > 1 && (strings.HasPrefix("-command", low) || strings.HasPrefix("-encodedcommand", low) || low == "-ec" || low == "-e")
		if !windows && !power && !program.IsCommandOption(name, a) {
			continue
		}
		j.Ask("shell-text", "runs shell commands given as an argument")
		text := strings.Join(rest[i+1:], " ")
		if !windows && !power && i+1 < len(rest) {
			text = rest[i+1]
		}
		if _, value, ok := strings.Cut(a, "="); ok {
			text = value
		}
		j.InSubshell(func() { j.Script(lex.ScriptText(text)) })
		return true
	}
	return false
}

// shellText judges text that a shell gets as an argument.
func (j *judge) shellText(text string, params []string, s track.Situation) {
	switch {
	case strings.Contains(text, lex.FromDownload):
		j.Ask("download-to-shell", "runs a download as shell commands")
	case strings.Contains(text, lex.Deferred): // judged when the function is called
		return
	case lex.Dynamic(text):
		j.Ask("shell-text", "runs shell commands that are only known at run time")
	case s.Xargs && s.In.Fed:
		j.Ask("pipe-to-shell", "runs its input as shell commands")
	}
	if strings.Trim(text, lex.Marks) == "" {
		return
	}
	j.InSubshell(func() { j.WithParameters(params, func() { j.Script(lex.ScriptText(text)) }) })
}

// shellFile judges a script file and its arguments.
func (j *judge) shellFile(words []string, s track.Situation) {
	file := words[0]
	switch {
	case program.IsInput(file):
		j.shellInput(s)
		return
	case s.Xargs && strings.HasPrefix(file, lex.Unknown):
		j.shellInput(s)
		return
	case strings.Contains(file, lex.FromDownload):
		j.Ask("download-to-shell", "runs a download as shell commands")
	case strings.HasPrefix(file, lex.Unknown) && strings.Contains(file, lex.Several[1:]):
		j.Ask("shell-text", "runs shell commands that are only known at run time")
	}
	j.runsFile(file, true, words[1:])
	j.hiddenTexts("", words[1:])
	j.hidden("", words[1:], track.Situation{})
}

// shellInput judges a shell that reads its commands from a pipe or a
// here-document.
func (j *judge) shellInput(s track.Situation) {
	j.inputAsks(s)
	if s.In.Known {
		j.InSubshell(func() { j.Script(lex.ScriptText(s.In.Text)) })
	}
}

func (j *judge) inputAsks(s track.Situation) {
	switch {
	case s.In.Download:
		j.Ask("download-to-shell", "runs a download as shell commands")
	case s.In.Fed || s.Xargs:
		j.Ask("pipe-to-shell", "runs its input as shell commands")
	}
}

// source judges source and ".", which read a file or their input.
func (j *judge) source(rest []string, s track.Situation) {
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	text, ok := "", false
	switch file := rest[0]; {
	case program.IsInput(file):
		j.inputAsks(s)
		text, ok = lex.ScriptText(s.In.Text), s.In.Known
	case strings.Contains(file, lex.FromDownload):
		j.Ask("download-to-shell", "runs a download as shell commands")
		return
	default:
		text, ok = j.FileText(file, true)
	}
	switch {
	case !ok:
		j.Forget() // it may set any variable
	case len(rest) > 1:
		j.WithParameters(rest[1:], func() { j.Script(text) })
	default:
		j.Script(text)
	}
}

// runsFile judges a file that is run: one that the same line wrote may hold
// anything. A shell reads the commands that the line put into it.
func (j *judge) runsFile(file string, asShell bool, params []string) {
	text, ok := j.FileText(file, asShell)
	if ok {
		j.InSubshell(func() { j.WithParameters(params, func() { j.Script(text) }) })
	}
}

// runsWritten judges a program that is named by its path, or by a name that the
// line put where programs are searched, and files that the line wrote and that a
// program gets as a script.
func (j *judge) runsWritten(args []string) {
	if len(j.Files) == 0 {
		return
	}
	if strings.Contains(args[0], "/") {
		j.runsFile(args[0], true, args[1:])
		return
	}
	_, pathSet := j.Vars["PATH"]
	for _, file := range slices.Sorted(maps.Keys(j.Files)) {
		c := j.Files[file]
		folder := path.Base(path.Dir(file))
		if path.Base(file) == args[0] && (pathSet || folder == "bin" || folder == "sbin") {
			if c.Known && !lex.Dynamic(c.Text) {
				j.runsFile(file, true, args[1:])
				continue
			}
			j.Ask("write-and-run", "runs a file that the same command wrote")
		}
	}
}
