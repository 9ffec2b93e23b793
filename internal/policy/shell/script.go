package shell

import (
	"strings"
)

func isShell(name string) bool { return isPlainShell(name) || isOtherShell(name) }

// isPlainShell reports whether a shell reads the language that the analysis
// knows.
func isPlainShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "ksh", "ksh93", "dash", "ash", "mksh", "rbash", "yash", "osh", "lksh", "pdksh", "hush", "rksh", "rzsh", "bash5":
		return true
	}
	return false
}

func isOtherShell(name string) bool {
	switch name {
	case "fish", "csh", "tcsh", "pwsh", "powershell", "cmd", "nu", "elvish", "xonsh", "oil", "ion", "rc", "es", "ysh":
		return true
	}
	return false
}

// shell judges a shell that gets text as an argument, from a file or as its
// input.
func (j *judge) shell(name string, rest []string, s situation) {
	if isOtherShell(name) && j.otherShell(name, rest) {
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
	text, file, after := shellWords(name, rest)
	switch {
	case text:
		for i, w := range after {
			j.shellText(w, after[min(i+2, len(after)):], s)
			if i == 0 && !unclear(name, rest) {
				break
			}
		}
	case file:
		j.shellFile(after, s)
	default:
		j.shellInput(s)
	}
}

// shellWords reads the options of a shell: whether it gets text or a file, and
// the words from there on.
func shellWords(name string, rest []string) (text, file bool, after []string) {
	input := false
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		long := strings.HasPrefix(a, "--")
		switch {
		case a == "-" || a == "--":
			return text, !text && !input && i+1 < len(rest), rest[i+1:]
		case long && strings.Contains(a, "="):
			if option, value, _ := strings.Cut(a, "="); isCommandOption(name, option) {
				return true, false, append([]string{value}, rest[i+1:]...)
			}
		case long:
			text = text || isCommandOption(name, a)
			if a == "--rcfile" || a == "--init-file" {
				i++
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			text, input = text || isCommandOption(name, a), input || a[0] == '-' && strings.Contains(a, "s")
			i += strings.Count(strings.ToLower(a), "o") // each takes a word
		default:
			return text, !text && !input, rest[i:]
		}
	}
	return false, false, nil
}

// unclear reports whether a shell gets an option that may take the next word, so
// that any later word can be the script.
func unclear(name string, rest []string) bool {
	for _, a := range rest {
		if a == "--" || a == "" || a[0] != '-' && a[0] != '+' {
			continue
		}
		switch a {
		case "--norc", "--noprofile", "--posix", "--login", "--verbose", "--restricted", "--noediting", "--command", "--rcfile", "--init-file", "-":
			continue
		}
		if strings.HasPrefix(a, "--") || strings.Trim(a[1:], "abcdefhiklmnopqrstuvxBCDEHPTO") != "" {
			return true
		}
	}
	return false
}

// isCommandOption reports whether an option is -c, also in a cluster, or its
// equivalent in other shells.
func isCommandOption(name, a string) bool {
	switch a {
	case "--command", "--init-command", "--execute", "--commands", "--eval":
		return true
	}
	if len(a) < 2 || a[0] != '-' && a[0] != '+' || a[1] == '-' { // bash +c is bash -c
		return false
	}
	return strings.Contains(a, "c") || name == "fish" && strings.Contains(a, "C") || name == "nu" && strings.Contains(a, "e")
}

// otherShell judges text for shells whose language the analysis does not know.
// It reports false if there is none.
func (j *judge) otherShell(name string, rest []string) bool {
	if (name == "powershell" || name == "pwsh") && len(rest) > 0 && rest[0] != "" && rest[0][0] != '-' && !strings.HasSuffix(rest[0], ".ps1") {
		j.argv(rest, situation{})
	}
	for i, a := range rest {
		low := strings.ToLower(a)
		windows := name == "cmd" && (low == "/c" || low == "/k" || low == "/r")
		power := name[0] == 'p' && len(low) > 1 && (strings.HasPrefix("-command", low) || strings.HasPrefix("-encodedcommand", low) || low == "-ec" || low == "-e")
		if !windows && !power && !isCommandOption(name, a) {
			continue
		}
		j.ask("shell-text", "runs shell commands given as an argument")
		text := strings.Join(rest[i+1:], " ")
		if !windows && !power && i+1 < len(rest) {
			text = rest[i+1]
		}
		if _, value, ok := strings.Cut(a, "="); ok {
			text = value
		}
		j.inSubshell(func() { j.script(scriptText(text)) })
		return true
	}
	return false
}

// shellText judges text that a shell gets as an argument.
func (j *judge) shellText(text string, params []string, s situation) {
	switch {
	case strings.Contains(text, fromDownload):
		j.ask("download-to-shell", "runs a download as shell commands")
	case strings.Contains(text, deferred): // judged when the function is called
		return
	case dynamic(text):
		j.ask("shell-text", "runs shell commands that are only known at run time")
	case s.xargs && s.in.fed:
		j.ask("pipe-to-shell", "runs its input as shell commands")
	}
	if strings.Trim(text, marks) == "" {
		return
	}
	j.inSubshell(func() { j.withParameters(params, func() { j.script(scriptText(text)) }) })
}

// shellFile judges a script file and its arguments.
func (j *judge) shellFile(words []string, s situation) {
	file := words[0]
	switch {
	case isInput(file):
		j.shellInput(s)
		return
	case s.xargs && strings.HasPrefix(file, unknown):
		j.shellInput(s)
		return
	case strings.Contains(file, fromDownload):
		j.ask("download-to-shell", "runs a download as shell commands")
	case strings.HasPrefix(file, unknown) && strings.Contains(file, several[1:]):
		j.ask("shell-text", "runs shell commands that are only known at run time")
	}
	j.runsFile(file, true, words[1:])
	j.hiddenTexts("", words[1:])
	j.hidden("", words[1:], situation{})
}

// isInput reports whether a file is the standard input.
func isInput(file string) bool {
	switch file {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/thread-self/fd/0":
		return true
	}
	return false
}

// shellInput judges a shell that reads its commands from a pipe or a
// here-document.
func (j *judge) shellInput(s situation) {
	j.inputAsks(s)
	if s.in.known {
		j.inSubshell(func() { j.script(scriptText(s.in.text)) })
	}
}

func (j *judge) inputAsks(s situation) {
	switch {
	case s.in.download:
		j.ask("download-to-shell", "runs a download as shell commands")
	case s.in.fed || s.xargs:
		j.ask("pipe-to-shell", "runs its input as shell commands")
	}
}

// source judges source and ".", which read a file or their input.
func (j *judge) source(rest []string, s situation) {
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	text, ok := "", false
	switch file := rest[0]; {
	case isInput(file):
		j.inputAsks(s)
		text, ok = scriptText(s.in.text), s.in.known
	case strings.Contains(file, fromDownload):
		j.ask("download-to-shell", "runs a download as shell commands")
		return
	default:
		text, ok = j.fileText(file, true)
	}
	switch {
	case !ok:
		j.forget() // it may set any variable
	case len(rest) > 1:
		j.withParameters(rest[1:], func() { j.script(text) })
	default:
		j.script(text)
	}
}
