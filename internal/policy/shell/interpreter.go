package shell

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// interpreter judges code that is passed as an argument, in a file that the line
// wrote, or as input.
func (j *judge) interpreter(name string, rest []string, s track.Situation) {
	if strings.HasSuffix(strings.TrimRight(name, "0123456789."), "awk") {
		j.awk(rest)
		return
	}
	lang, _ := code.LanguageOf(name)
	unclear := false // whether the last option may take the next word
	given, inPlace := false, false
	i := 0
	next := func(value string) string { // the value of an option, which may be the next word
		if value == "" && i+1 < len(rest) {
			i++
			return rest[i]
		}
		return value
	}
	for ; i < len(rest); i++ {
		a := rest[i]
		switch {
		case given && !unclear && (len(a) < 2 || a[0] != '-' || a == "--"): // an argument of the code
			if inPlace {
				j.WriteAll(getopt.PlainWords(rest[i:]))
			}
			return
		case program.IsInput(a):
			j.codeInput(s)
			return
		case a == "eval" && strings.Contains(lang.Verbs, " eval "), code.IsCodeOption(a):
			_, value, _ := strings.Cut(a, "=")
			j.code(name, value+" "+strings.Join(rest[i+1:], " "))
			return
		case strings.Contains(lang.Verbs, " "+a+" "):
		case strings.HasPrefix(a, "--"):
			_, value, attached := strings.Cut(a, "=")
			j.loads(value)
			unclear = !attached && !strings.Contains(lang.Words, " "+a+" ")
			continue
		case len(a) > 1 && a[0] == '-':
			at := strings.IndexAny(a[1:], lang.Code+lang.Values) + 1
			if at > 0 && strings.IndexByte(lang.Code, a[at]) >= 0 {
				j.code(name, next(a[at+1:]))
				if lang.Code == "c" { // what follows are arguments
					return
				}
				given, unclear, inPlace = true, false, inPlace || code.EditsInPlace(name, a[:at])
				continue
			}
			if at > 0 && a[at] == 'm' && lang.Code == "c" {
				j.module(a[at+1:], rest[i+1:])
				return
			}
			if at > 0 {
				j.loads(next(a[at+1:]))
			}
			inPlace = inPlace || code.EditsInPlace(name, a)
			unclear = at == 0 && strings.Trim(a[1:], lang.Alone) != ""
			continue
		default:
			j.codeFile(name, rest[i:], s)
			if !unclear {
				return
			}
		}
		unclear = false
	}
	if !given {
		j.codeInput(s)
	}
}

// loads judges the value of an option, which may name code to load first.
func (j *judge) loads(value string) {
	if strings.HasPrefix(value, "/") && track.Temporary(value) {
		j.Ask("inline-code", "loads code from a folder that all users may write to")
	}
	j.runsFile(value, false, nil)
}

// module judges python -m.
func (j *judge) module(name string, rest []string) {
	if name == "" && len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	path := strings.ReplaceAll(name, ".", "/")
	for _, file := range []string{path + ".py", path + "/__main__.py", path + "/__init__.py"} {
		j.runsFile(file, false, nil)
	}
	j.hiddenTexts("", rest)
	j.hidden("", rest, track.Situation{})
}

// codeFile judges a script and its arguments.
func (j *judge) codeFile(name string, words []string, s track.Situation) {
	if strings.Contains(words[0], lex.FromDownload) {
		j.Ask("download-to-shell", "runs a download as a program")
	}
	j.runsFile(words[0], false, nil)
	j.hiddenTexts("", words[1:])
	j.hidden("", words[1:], track.Situation{})
}

func (j *judge) codeInput(s track.Situation) {
	switch {
	case s.In.Download:
		j.Ask("download-to-shell", "runs a download as a program")
	case s.In.Fed || s.Xargs:
		j.inlineCode(s.In.Text)
	}
}

// code judges code in an argument. Code that visibly does nothing is allowed.
func (j *judge) code(name, text string) {
	switch {
	case strings.Contains(text, lex.FromDownload):
		j.Ask("download-to-shell", "runs a download as a program")
	case len(j.Files) == 0 && code.HarmlessCode(name, text):
		return
	}
	j.inlineCode(text)
}

func (j *judge) inlineCode(text string) {
	j.Ask("inline-code", "runs program code given in the command")
	j.destructiveCode(text)
	if !code.Connects(text) {
		return
	}
	j.Leaves = true
	if j.QuotesSecret(text) {
		j.AskUpload()
	}
}

// awk judges the text of awk programs, which can run commands and write files.
func (j *judge) awk(rest []string) {
	for i, a := range rest {
		if a == "-f" && i+1 < len(rest) {
			j.runsFile(rest[i+1], false, nil)
		}
		if lex.Dynamic(a) && strings.Contains(a, lex.Several[1:]) && i == 0 {
			j.Ask("inline-code", "runs program code that is only known at run time")
		}
		if strings.Contains(a, "/inet") { // gawk opens connections by such names
			if j.Leaves = true; slices.ContainsFunc(rest, j.SecretPart) || j.QuotesSecret(a) {
				j.AskUpload()
			}
		}
		if code.AwkRuns(a) {
			j.inlineCode(a)
			continue
		}
		for _, target := range code.AwkTargets(a) {
			j.Write(target)
		}
	}
}

// destructiveCode looks in program code for what is never allowed: deleting a
// vital folder, by a function of the language or by a command in a text.
func (j *judge) destructiveCode(text string) {
	text = text[:min(len(text), lex.MaxText)]
	if strings.Contains(strings.Join(strings.Fields(text), " "), "fork while fork") {
		j.Refuse("fork-bomb", "starts endless copies of itself (a fork bomb)")
	}
	for _, m := range code.Destroyers().FindAllStringSubmatch(text, lex.MaxIterations) {
		if code.Homes().MatchString(m[1]) {
			j.Refuse("delete-root", track.DeletesRoot)
		}
		for _, path := range code.QuotedText().FindAllString(m[1], lex.MaxAlternatives) {
			if j.Vital(strings.Trim(path, "\"'`")) {
				j.Refuse("delete-root", track.DeletesRoot)
			}
		}
	}
	j.commandsInCode(text)
}

// commandsInCode judges the texts in program code as commands, alone and as the
// words of one. Only what is never allowed counts: the code itself asks.
func (j *judge) commandsInCode(text string) {
	var words []string
	end := 0
	judge := func() {
		if len(words) > 1 {
			j.Never(func() { j.Command(words, track.Situation{}) })
		}
		words = nil
	}
	for _, at := range code.QuotedText().FindAllStringIndex(text, lex.MaxFiles) {
		if between := text[end:at[0]]; strings.Trim(between, " ,\t\n[(") != "" {
			judge()
		}
		word := text[at[0]+1 : at[1]-1]
		words, end = append(words, word), at[1]
		if strings.ContainsAny(word, " \t") {
			j.Never(func() { j.Script(word) })
		}
	}
	judge()
}
