package shell

import (
	"maps"
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// hidden judges what a program may run beside text in its arguments: the words
// after it, and text that it reads.
func (j *judge) hidden(name string, rest []string, s track.Situation) {
	if j.Probing || s.Shadowed {
		return
	}
	switch program.HabitOf(name) {
	case program.ReadsText:
		return
	case program.TakesNames:
		j.afterMarker(rest, s)
		return
	}
	j.hiddenWords(rest, s)
	for _, text := range append([]string{s.In.Text}, rest...) {
		if strings.ContainsAny(text, " \t\n") {
			j.give(text)
		}
	}
	switch {
	case s.In.Download:
		j.Ask("download-to-shell", "passes a download to a program that may run it")
	case s.In.Known && s.In.Text != "":
		j.Probe(func() { j.Script(lex.ScriptText(s.In.Text)) })
		j.hiddenText(s.In.Text)
	}
	for i, a := range rest {
		if (a == "-c" || a == "-e" || code.IsCodeOption(a)) && i+1 < len(rest) && strings.Contains(rest[i+1], "(") {
			j.Ask("inline-code", "runs program code given in the command")
		}
	}
}

// hiddenWords judges each place in the arguments at which a command may begin.
func (j *judge) hiddenWords(rest []string, s track.Situation) {
	if len(rest) > lex.MaxPositions {
		j.Exhausted()
	}
	// One of the places is the command: what one writes, another one does not run.
	before, written := j.Files, map[string]track.Content{}
	maps.Copy(written, before)
	for i, w := range rest[:min(len(rest), lex.MaxPositions)] {
		if !lex.IsName(w) || !j.Step() {
			continue
		}
		inner := rest[i:min(len(rest), i+lex.MaxIterations)]
		if len(inner) == 1 && program.IsPlainShell(lex.Program(w)) {
			j.Ask("hidden-command", "may start a shell in another program")
		}
		j.Files = maps.Clone(before)
		j.Probe(func() { j.Command(inner, s) })
		if len(inner) > 2 && inner[1] == "--" { // which ends the options of the program around it
			j.Probe(func() { j.Command(slices.Delete(slices.Clone(inner), 1, 2), s) })
		}
		maps.Copy(written, j.Files)
	}
	j.Files = written
}

// starters are the keys of what is found in a command that starts another program.
const starters = "database-exec environment git-config git-exec hg-exec inline-code option-exec other-process pipe-to-shell remote-shell runs-later svn-exec tool-settings types-for-user"

// starting judges a command. If it is found to start another program, what its arguments and its input may say of that one is
// listed, too.
func (j *judge) starting(name string, rest []string, s track.Situation, judge func()) {
	if j.given == nil || j.Probing || program.IsShell(name) { // the text of a shell is followed as it is
		judge()
		return
	}
	before := j.Findings
	j.Findings = nil
	judge()
	found := j.Findings
	j.Findings = before
	starts := false
	for _, f := range found {
		j.Find(f)
		starts = starts || lex.Within(starters, f.Key)
	}
	if !starts {
		return
	}
	j.hiddenWords(rest, s)
	j.hiddenTexts("", rest)
	for _, text := range append([]string{s.In.Text}, rest...) {
		j.give(text)
	}
}

// give hands over a text that a program may take commands from.
func (j *judge) give(text string) {
	if j.given != nil && text != "" {
		j.given(lex.ScriptText(text))
	}
}

// afterMarker judges the words after one that says that a command follows.
func (j *judge) afterMarker(rest []string, s track.Situation) {
	if j.Probing || s.Shadowed {
		return
	}
	for i, a := range rest {
		switch a {
		case "--", "exec", "run", "-c", "-x", "--exec", "--command", "dlx", "shell", "ssh":
			for k := i + 1; k < min(i+4, len(rest)-1); k++ {
				if lex.IsName(rest[k]) && j.Step() {
					j.Probe(func() { j.Command(rest[k:], s) })
				}
			}
		}
	}
}

// hiddenTexts judges arguments that may be the text of a command.
func (j *judge) hiddenTexts(name string, rest []string) {
	if program.HabitOf(name) == program.ReadsText || j.Probing {
		return
	}
	texts := 0
	for _, a := range rest {
		if !strings.ContainsAny(a, " \t\n;|&`(!") {
			continue
		}
		if texts++; texts > lex.MaxTexts {
			j.Exhausted()
			return
		}
		j.hiddenText(a)
	}
}

// hiddenText judges a text as a command, as a whole and from each place at which
// options begin their value.
func (j *judge) hiddenText(text string) {
	if code.RunsPrograms(text) {
		j.Ask("inline-code", "runs program code given in the command")
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		j.hiddenScript(text[2:])
	}
	j.hiddenScript(text)
	places := 0
	for i := 0; i < len(text)-1 && places < lex.MaxAlternatives; i++ {
		switch text[i] {
		case '=', ':', ',', '(', '`', '{':
			j.hiddenScript(text[i+1:])
			places++
		case '!': // which programs read as: the rest is a command
			rest := strings.TrimSpace(text[i+1:])
			if lex.IsName(rest) {
				j.Probe(func() { j.Command([]string{rest}, track.Situation{}) })
			}
			j.hiddenScript(rest)
			places++
		}
	}
}

// hiddenScript judges text that may be a script.
func (j *judge) hiddenScript(text string) {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(text, " \t\n'\"@+"), "shell "), "system ")
	if text == "" || !lex.IsLetter(text[0]) && text[0] != '.' && text[0] != '/' && text[0] != '(' && text[0] != '{' || !j.Spend(len(text)) || !j.Step() {
		return
	}
	if end := strings.LastIndexAny(text, ")`}'\""); end > 0 && !strings.ContainsAny(text[:end], "('\"`{") {
		text = text[:end] // the end of what the text is in
	}
	if strings.ContainsAny(text, " \t\n;|&") {
		j.Probe(func() { j.Script(lex.ScriptText(text)) })
	}
}
