package shell

import "strings"

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "ksh", "dash", "ash", "fish", "mksh", "rbash", "csh", "tcsh", "yash", "pwsh", "powershell", "cmd", "bash.exe", "osh", "nu":
		return true
	}
	return false
}

// shell judges a shell that gets text as an argument or as its input.
func (j *judge) shell(name string, rest []string, s situation) {
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		low := strings.ToLower(a)
		switch {
		case a == "-o" || a == "+o" || a == "-O" || a == "+O" || a == "--rcfile" || a == "--init-file":
			i++
		case name[0] == 'p' && len(low) > 1 && strings.HasPrefix("-encodedcommand", low) || name[0] == 'p' && low == "-ec":
			j.ask("shell-text", "runs encoded shell commands")
			return
		case isCommandOption(low):
			j.ask("shell-text", "runs shell commands given as an argument")
			for i++; i < len(rest) && strings.HasPrefix(rest[i], "-"); i++ { // options between -c and its text
			}
			j.shellText(rest[min(i, len(rest)):], low)
			return
		case a == "-s" || a == "-":
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
		default:
			if strings.Contains(a, fromDownload) {
				j.ask("download-to-shell", "runs a download as shell commands")
			}
			if strings.Contains(a, " ") {
				j.substitutedScript(rest[i:], s)
			}
			if a != "/dev/stdin" && !(s.xargs && strings.HasPrefix(a, unknown)) {
				return
			}
		}
	}
	j.shellInput(s)
}

// substitutedScript judges a script that is not a file: the input, or the text of
// a process substitution.
func (j *judge) substitutedScript(rest []string, s situation) {
	switch {
	case len(rest) == 0:
	case rest[0] == "/dev/stdin" || rest[0] == "/dev/fd/0":
		j.shellInput(s)
	case strings.Contains(rest[0], " ") && !dynamic(rest[0]):
		j.ask("pipe-to-shell", "runs its input as shell commands")
		j.script(rest[0])
	}
}

// isCommandOption reports whether an option is -c, also in a cluster, or its
// equivalent in other shells.
func isCommandOption(low string) bool {
	if low == "/c" || low == "/k" || low == "--command" || low == "-command" {
		return true
	}
	return len(low) > 1 && low[0] == '-' && low[1] != '-' && strings.Contains(low, "c") && len(low) <= 6
}

func (j *judge) shellText(words []string, option string) {
	if len(words) == 0 {
		return
	}
	text := words[0]
	if option[0] == '/' || option == "-command" { // cmd and PowerShell take all following words
		text = strings.Join(words, " ")
	}
	if strings.Contains(text, fromDownload) {
		j.ask("download-to-shell", "runs a download as shell commands")
	}
	if strings.TrimLeft(text, "\x00\x02\x03") == "" {
		return
	}
	j.inSubshell(func() { j.script(strings.NewReplacer(unknown, "$UNKNOWN", "\x02", "", "\x03", "").Replace(text)) })
}

// shellInput judges a shell that reads its commands from a pipe or a
// here-document.
func (j *judge) shellInput(s situation) {
	switch {
	case s.in.download:
		j.ask("download-to-shell", "runs a download as shell commands")
	case s.in.fed || s.xargs:
		j.ask("pipe-to-shell", "runs its input as shell commands")
	}
	if s.in.known {
		j.inSubshell(func() { j.script(s.in.text) })
	}
}
