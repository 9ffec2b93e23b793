package shell

import (
	"cmp"
	"errors"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/order"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Level says how to treat a command.
type Level = track.Level

// The levels, in rising order.
const (
	Allow  = track.Allow  // nothing was found
	Ask    = track.Ask    // the user decides
	Refuse = track.Refuse // no mode and no approval allows it
)

// Finding is one danger of a command.
type Finding = track.Finding

// Context is what a command is judged by.
type Context = track.Context

// judge walks one line.
type judge struct {
	*track.Line
	input   track.Input    // of the shell, after exec with a redirection
	active  []*syntax.Stmt // functions that are being called
	aliases map[string]string
	hashed  map[string]string // the file that a name runs, by the shell's table of programs
	traps   []string          // text that runs when the shell ends
	seen    func([]string)    // is called with each command; may be nil
	given   func(string)      // is called with each text that a program may take commands from; may be nil
	opened  func(string)      // is called with each file that is opened as input; may be nil
}

func newJudge(on Context) *judge { return &judge{Line: track.New(on)} }

// Verdict is everything that was found in a command, the worst first, one
// finding for each key.
type Verdict struct {
	Findings []Finding
	away     bool // it may be about another machine
}

// Level is the highest level of the findings.
func (v Verdict) Level() Level {
	if len(v.Findings) == 0 {
		return Allow
	}
	return v.Findings[0].Level
}

// Judge judges a shell command line. It parses the line as a shell would and
// judges each command, also behind wrappers such as sudo and xargs, in
// substitutions and in text passed to another shell. Text that cannot be parsed,
// or is only known at run time, gets the level Ask. Judge is pure and fast
// (microseconds for a usual line) and may be called concurrently.
func Judge(line string, on Context) Verdict {
	byName := on
	byName.Holds = nil
	j := newJudge(byName)
	j.line(line)
	if j.Leaves && on.Holds != nil {
		j = newJudge(on)
		j.line(line)
		if j.Shows && (j.Astray || j.starts()) {
			j.AskUpload()
		}
	}
	// Judge what the line looks like on a screen as well as what the shell
	// reads: each can hide something that the other shows.
	if plain := lex.Normalize(line); plain != line {
		again := newJudge(on) // few lines look different
		again.line(plain)
		for _, f := range again.Findings {
			j.Find(f)
		}
	}
	if j.Held != "" {
		for i, f := range j.Findings {
			if f.Key == "secret-upload" || f.Key == "secret-commit" {
				j.Findings[i].Reason += ": " + j.Held
			}
		}
	}
	order.By(j.Findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return Verdict{j.Findings, j.Away}
}

// starts reports whether a program of the line starts another one by an option.
func (j *judge) starts() bool {
	return slices.ContainsFunc(j.Findings, func(f Finding) bool { return f.Key == "option-exec" })
}

// line judges a whole line and what it leaves to run at its end.
func (j *judge) line(text string) {
	j.Script(lex.WithoutMarks(text))
	for i := 0; i < len(j.traps); i++ { // a trap may set another
		if i == lex.MaxAlternatives {
			j.Exhausted()
			break
		}
		j.Script(j.traps[i])
	}
	if j.Steps > lex.MaxSteps || j.Work > lex.MaxWork {
		j.MatchText(text)
	}
}

// Script judges text that a shell will read.
func (j *judge) Script(text string) {
	j.deeper(func() {
		list, err := lex.Parse(text)
		j.stmts(list, track.Input{})
		switch {
		case errors.Is(err, lex.ErrNested):
			j.tooDeep()
			j.MatchText(text)
		case err != nil:
			j.Ask("unreadable", "the command cannot be parsed (unbalanced quotes or brackets)")
			j.MatchText(text)
		}
	})
}

// deeper judges what is inside of something else, unless that is too deep to check.
func (j *judge) deeper(inside func()) {
	if j.Depth >= lex.MaxDepth {
		j.tooDeep()
		return
	}
	j.Depth++
	inside()
	j.Depth--
}

func (j *judge) tooDeep() { j.Ask("too-deep", "commands are nested too deeply to check") }

// JudgeText judges text for a program that is not a shell, such as a line for a
// running interpreter. Every protected path in it counts as written.
func JudgeText(text string, on Context) Verdict {
	j := newJudge(on)
	j.NameAll(text)
	return Verdict{j.Findings, j.Away}
}

// Words expands the words of a command as far as they are known without the line
// around it.
func Words(list []*syntax.Word) []string { return newJudge(Context{}).words(list) }

// Commands calls yield with the words of every simple command in a line, as the
// shell would run it: behind wrappers such as sudo and with them, in
// substitutions, functions, here-documents for a shell and text for another shell.
// Words of unknown programs that may form a command are listed, too, and texts in
// what is no shell command. A zero byte is a part that is only known at run
// time. Commands stops when yield returns false. It reports false if the line has commands
// that it does not list: they are too many, or nested too deeply.
func Commands(line string, yield func(words []string) bool) (complete bool) {
	return CommandsAndTexts(line, yield, nil)
}

// CommandsAndTexts is [Commands], and calls text with what programs of the line may take commands from in a form of their
// own: program code, settings, the lines of an editor or of a table of jobs.
func CommandsAndTexts(line string, yield func(words []string) bool, text func(string)) (complete bool) {
	for _, form := range []string{line, lex.Normalize(line)} {
		j := newJudge(Context{})
		j.Listing = true
		j.given = text
		stopped := false
		j.seen = func(words []string) {
			if !stopped && !yield(lex.WithUnknown(words)) {
				stopped = true
				j.Steps = lex.MaxSteps // there is no need to read on
			}
		}
		j.line(form)
		if stopped {
			return true
		}
		if j.Steps > lex.MaxSteps || j.Work > lex.MaxWork || slices.ContainsFunc(j.Findings, func(f Finding) bool { return f.Key == "too-deep" }) {
			return false
		}
		if _, err := lex.Parse(lex.WithoutMarks(form)); err != nil {
			j.commandsInCode(form)
		}
		if stopped || form == lex.Normalize(form) {
			return true
		}
	}
	return true
}

// Inputs lists the files that redirections of a line open for reading, in the places that
// [Commands] knows. A zero byte is a part that is only known at run time.
func Inputs(line string) []string {
	var all []string
	j := newJudge(Context{})
	j.opened = func(file string) { all = append(all, file) }
	j.line(line)
	return lex.WithUnknown(all)
}

// StartsShell reports whether a line may start a program that reads its input as
// shell commands, on this machine or in another place. An unknown program may.
func StartsShell(line string) bool {
	found := false
	complete := Commands(line, func(words []string) bool {
		name := lex.Program(words[0])
		w, wraps := program.WrapperOf(name)
		found = lex.Dynamic(words[0]) || program.IsShell(name) || slices.Contains(shellStarters, name) ||
			wraps && len(w.Inner(words[1:])) == 0 && program.OpensShell(name, words[1:])
		return !found
	})
	return found || !complete
}

// shellStarters are the programs that start a shell elsewhere or for another user.
var shellStarters = []string{"ssh", "docker", "podman", "kubectl", "su", "screen", "tmux"}
