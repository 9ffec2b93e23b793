package shell

import "strings"

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "ksh", "dash", "ash", "fish", "mksh", "rbash", "csh", "tcsh", "yash", "pwsh", "powershell", "cmd", "bash.exe", "osh", "nu":
		return true
	}
	return false
}

// isInterpreter knows programs that take code as an argument.
func isInterpreter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "deno", "bun", "osascript", "rscript", "tclsh", "guile", "awk", "gawk", "mawk", "nawk", "ipython", "elixir", "julia", "groovy", "tsx", "ts-node":
		return true
	}
	return false
}

// shell judges a shell that is given text: as an argument, or as its input.
func (j *judge) shell(name string, rest []string, s situation) {
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		low := strings.ToLower(a)
		switch {
		case a == "-o" || a == "+o" || a == "-O" || a == "+O" || a == "--rcfile" || a == "--init-file":
			i++
		case name[0] == 'p' && len(low) > 1 && strings.HasPrefix("-encodedcommand", low) || name[0] == 'p' && low == "-ec":
			j.ask("shell-text", "runs encoded shell text")
			return
		case isCommandOption(low):
			j.ask("shell-text", "runs shell text that is given as an argument")
			for i++; i < len(rest) && strings.HasPrefix(rest[i], "-"); i++ { // options between -c and its text
			}
			j.shellText(rest[min(i, len(rest)):], low)
			return
		case a == "-s" || a == "-":
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
		default:
			if strings.Contains(a, fromDownload) {
				j.ask("download-to-shell", "runs what a download gives as shell commands")
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

// substitutedScript judges a script that is no file: the input, or the text of
// a process substitution, which no file name looks like.
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

// isCommandOption recognises -c, also in a cluster, and its spellings
// elsewhere.
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
	if option[0] == '/' || option == "-command" { // cmd and PowerShell take all that follows
		text = strings.Join(words, " ")
	}
	if strings.Contains(text, fromDownload) {
		j.ask("download-to-shell", "runs what a download gives as shell commands")
	}
	if strings.TrimLeft(text, "\x00\x02\x03") == "" {
		return
	}
	j.apart(func() { j.script(strings.NewReplacer(unknown, "$UNKNOWN", "\x02", "", "\x03", "").Replace(text)) })
}

// shellInput judges a shell that reads its commands from a pipe or a
// here-document.
func (j *judge) shellInput(s situation) {
	switch {
	case s.in.download:
		j.ask("download-to-shell", "runs what a download gives as shell commands")
	case s.in.fed || s.xargs:
		j.ask("pipe-to-shell", "runs its input as shell commands")
	}
	if s.in.known {
		j.apart(func() { j.script(s.in.text) })
	}
}

// interpreter judges code that is given as an argument or as the input.
func (j *judge) interpreter(name string, rest []string, s situation) {
	kind := strings.TrimRight(name, "0123456789.")
	inPlace := false
	for i, a := range rest {
		switch {
		case kind == "awk" || strings.HasSuffix(kind, "awk"):
			if strings.Contains(a, "system(") || strings.Contains(a, "| \"") || strings.Contains(a, "|\"") {
				j.code(a)
			}
			continue
		case kind == "deno" && a == "eval":
			j.code(strings.Join(rest[i+1:], " "))
			return
		case a == "--eval" || a == "--print" || a == "--run" || strings.HasPrefix(a, "--eval=") || strings.HasPrefix(a, "--print="):
			j.code(strings.Join(rest[i:], " "))
			return
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			inPlace = inPlace || (kind == "perl" || kind == "ruby") && strings.Contains(a, "i")
			if strings.ContainsAny(a, codeOptions(kind)) {
				j.code(strings.Join(rest[i:], " "))
				if inPlace {
					j.writeAll(plainWords(rest[i+1:]))
				}
				return
			}
			if kind == "python" && strings.HasSuffix(a, "m") {
				return
			}
		case a == "-" || strings.HasPrefix(a, "-"):
		default:
			if strings.Contains(a, fromDownload) {
				j.ask("download-to-shell", "runs what a download gives as a program")
			}
			if inPlace {
				j.writeAll(rest[i:])
			}
			return // a script file
		}
	}
	switch {
	case s.in.download:
		j.ask("download-to-shell", "runs what a download gives as a program")
	case s.in.fed && !strings.HasSuffix(kind, "awk"):
		j.code(s.in.text)
	}
}

// codeOptions are the short options whose value is code.
func codeOptions(kind string) string {
	switch kind {
	case "python", "pypy", "ipython":
		return "c"
	case "node", "nodejs", "bun", "tsx", "ts-node":
		return "ep"
	case "php":
		return "rB"
	case "perl", "ruby":
		return "eE"
	}
	return "e"
}

func (j *judge) code(text string) {
	j.ask("inline-code", "runs program text that is given in the command")
	if strings.Contains(strings.Join(strings.Fields(text), " "), "fork while fork") {
		j.refuse("fork-bomb", "it starts copies of itself without end")
	}
}

// metadata recognises the addresses at which clouds hand out credentials.
func (j *judge) metadata(name, arg string) {
	switch name {
	case "echo", "printf", "grep", "rg", "git", "gh", "ag":
		return
	}
	if !strings.ContainsAny(arg, ".:x8") {
		return
	}
	low := strings.ToLower(arg)
	for _, address := range []string{"169.254.169.254", "169.254.170.2", "169.254.170.23", "metadata.google.internal", "metadata.goog", "100.100.100.200", "fd00:ec2::254", "2852039166", "0xa9fea9fe", "a9fe:a9fe", "metadata.azure"} {
		if strings.Contains(low, address) {
			j.ask("cloud-metadata", "asks the cloud's metadata service, which hands out credentials")
			return
		}
	}
}
