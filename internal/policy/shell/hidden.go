package shell

import (
	"maps"
	"slices"
	"strings"
)

// hidden judges what a program may run beside text in its arguments: the words
// after it, and text that it reads.
func (j *judge) hidden(name string, rest []string, s situation) {
	if j.probing || s.shadowed {
		return
	}
	switch habitOf(name) {
	case readsText:
		return
	case takesNames:
		j.afterMarker(rest, s)
		return
	}
	j.hiddenWords(rest, s)
	switch {
	case s.in.download:
		j.ask("download-to-shell", "passes a download to a program that may run it")
	case s.in.known && s.in.text != "":
		j.probe(func() { j.script(scriptText(s.in.text)) })
		j.hiddenText(s.in.text)
	}
	for i, a := range rest {
		if (a == "-c" || a == "-e" || isCodeOption(a)) && i+1 < len(rest) && strings.Contains(rest[i+1], "(") {
			j.ask("inline-code", "runs program code given in the command")
		}
	}
}

// hiddenWords judges each place in the arguments at which a command may begin.
func (j *judge) hiddenWords(rest []string, s situation) {
	if len(rest) > maxPositions {
		j.exhausted()
	}
	// One of the places is the command: what one writes, another one does not run.
	before, written := j.files, map[string]content{}
	maps.Copy(written, before)
	for i, w := range rest[:min(len(rest), maxPositions)] {
		if !isName(w) || !j.step() {
			continue
		}
		inner := rest[i:min(len(rest), i+maxIterations)]
		if len(inner) == 1 && isPlainShell(program(w)) {
			j.ask("hidden-command", "may start a shell in another program")
		}
		j.files = maps.Clone(before)
		j.probe(func() { j.argv(inner, s) })
		if len(inner) > 2 && inner[1] == "--" { // which ends the options of the program around it
			j.probe(func() { j.argv(slices.Delete(slices.Clone(inner), 1, 2), s) })
		}
		maps.Copy(written, j.files)
	}
	j.files = written
}

// afterMarker judges the words after one that says that a command follows.
func (j *judge) afterMarker(rest []string, s situation) {
	if j.probing || s.shadowed {
		return
	}
	for i, a := range rest {
		switch a {
		case "--", "exec", "run", "-c", "-x", "--exec", "--command", "dlx", "shell", "ssh":
			for k := i + 1; k < min(i+4, len(rest)-1); k++ {
				if isName(rest[k]) && j.step() {
					j.probe(func() { j.argv(rest[k:], s) })
				}
			}
		}
	}
}

// isName reports whether a word can be the name of a program.
func isName(w string) bool {
	if w == "" || len(w) > 64 {
		return false
	}
	for i := range len(w) {
		c := w[i]
		if !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("./+-", c) < 0 {
			return false
		}
	}
	return isLetter(w[0]) || w[0] == '.' || w[0] == '/'
}

// hiddenTexts judges arguments that may be the text of a command.
func (j *judge) hiddenTexts(name string, rest []string) {
	if habitOf(name) == readsText || j.probing {
		return
	}
	texts := 0
	for _, a := range rest {
		if !strings.ContainsAny(a, " \t\n;|&`(!") {
			continue
		}
		if texts++; texts > maxTexts {
			j.exhausted()
			return
		}
		j.hiddenText(a)
	}
}

// hiddenText judges a text as a command, as a whole and from each place at which
// options begin their value.
func (j *judge) hiddenText(text string) {
	if runsPrograms(text) {
		j.ask("inline-code", "runs program code given in the command")
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		j.hiddenScript(text[2:])
	}
	j.hiddenScript(text)
	places := 0
	for i := 0; i < len(text)-1 && places < maxAlternatives; i++ {
		switch text[i] {
		case '=', ':', ',', '(', '`', '{':
			j.hiddenScript(text[i+1:])
			places++
		case '!': // which programs read as: the rest is a command
			rest := strings.TrimSpace(text[i+1:])
			if isName(rest) {
				j.probe(func() { j.argv([]string{rest}, situation{}) })
			}
			j.hiddenScript(rest)
			places++
		}
	}
}

// hiddenScript judges text that may be a script.
func (j *judge) hiddenScript(text string) {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(text, " \t\n'\"@+"), "shell "), "system ")
	if text == "" || !isLetter(text[0]) && text[0] != '.' && text[0] != '/' && text[0] != '(' && text[0] != '{' || !j.spend(len(text)) || !j.step() {
		return
	}
	if end := strings.LastIndexAny(text, ")`}'\""); end > 0 && !strings.ContainsAny(text[:end], "('\"`{") {
		text = text[:end] // the end of what the text is in
	}
	if strings.ContainsAny(text, " \t\n;|&") {
		j.probe(func() { j.script(scriptText(text)) })
	}
}

// probe judges something that may be a command. Of what it finds, that a program
// is unknown or a text unreadable does not count, nor does SQL, which is judged in
// the whole argument. Nothing is refused: whether it runs is not known.
func (j *judge) probe(f func()) {
	if j.depth >= maxDepth {
		j.exhausted()
		return
	}
	outer := j.findings
	probing := j.probing
	j.findings, j.probing = nil, true
	j.depth++
	j.inSubshell(f)
	j.depth--
	j.probing = probing
	found := j.findings
	j.findings = outer
	for _, f := range found {
		switch {
		case f.Key == "dynamic-command" || f.Key == "unreadable" || f.Key == "destructive-sql":
		case f.Level == Refuse:
			j.ask("hidden-command", "may run a command that "+f.Reason)
		default:
			j.find(f)
		}
	}
}

// runsPrograms reports whether a text looks like code that starts programs or
// deletes folders.
func runsPrograms(text string) bool {
	if !strings.Contains(text, "(") {
		return false
	}
	low := strings.ToLower(text)
	for _, name := range []string{"system(", "exec(", "execsync(", "spawn(", "spawnsync(", "popen(", "eval(", "subprocess", "child_process", "__import__", "rmtree(", "removeall(", "rmsync(", "shell_exec(", "passthru(", "getruntime(", "processbuilder"} {
		if strings.Contains(low, name) {
			return true
		}
	}
	return false
}
