package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Level says how to treat a command.
type Level int

// The levels, in rising order.
const (
	// Allow: nothing was found.
	Allow Level = iota
	// Ask: the user decides.
	Ask
	// Refuse: no mode and no approval allows it.
	Refuse
)

// Finding is one danger of a command.
type Finding struct {
	Level Level
	// Key names the pattern, such as "recursive-delete". Keys must not change,
	// since approvals are stored under them.
	Key string
	// Reason says in plain words what the command would do.
	Reason string
}

// Verdict is everything that was found in a command, the worst first, one
// finding for each key.
type Verdict struct{ Findings []Finding }

// Level is the highest level of the findings.
func (v Verdict) Level() Level {
	if len(v.Findings) == 0 {
		return Allow
	}
	return v.Findings[0].Level
}

// Context is what a command is judged by. The zero value knows no home folder.
type Context struct {
	// Home is the user's home folder, absolute.
	Home string
	// Hermes is the folder of Hermes itself; empty means .hermes in Home.
	Hermes string
	// Dir is the folder in which the command would run; empty means unknown.
	Dir string
	// Resolve follows the links of an absolute path on disk and returns the path
	// it leads to. Nil follows none. It is the only thing that may touch a disk.
	Resolve func(path string) string
	// PID is the process id of Hermes; 0 means unknown.
	PID int
	// Gateway is set while the gateway runs in this process: a command of its
	// own sessions must not stop it.
	Gateway bool
}

// maxNesting is how many brackets a line may open. The parser's stack grows with
// them, so a line with more counts as unreadable.
const maxNesting = 2000

// Judge judges a shell command line. It parses the line as a shell would and
// judges each command, also behind wrappers such as sudo and xargs, in
// substitutions and in text passed to another shell. Text that cannot be parsed,
// or is only known at run time, gets the level Ask. Judge is pure and fast
// (microseconds for a usual line) and may be called concurrently.
func Judge(line string, on Context) Verdict {
	on.Hermes = cmp.Or(on.Hermes, on.Home+"/.hermes")
	j := &judge{context: on, dir: on.Dir, vars: map[string]string{}}
	j.script(line)
	// Judge what the line looks like on a screen as well as what the shell
	// reads: each can hide something that the other shows.
	if plain := normalize(line); plain != line {
		again := &judge{context: on, dir: on.Dir, vars: map[string]string{}}
		again.script(plain)
		for _, f := range again.findings {
			j.find(f)
		}
	}
	slices.SortStableFunc(j.findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return Verdict{Findings: j.findings}
}

// judge walks one line. It tracks what is known without running anything:
// literal variables, cd, functions.
type judge struct {
	context  Context
	dir      string
	vars     map[string]string
	funcs    map[string]*syntax.Stmt
	made     []string // files that were made executable
	depth    int
	steps    int
	findings []Finding
}

func (j *judge) ask(key, reason string)    { j.find(Finding{Ask, key, reason}) }
func (j *judge) refuse(key, reason string) { j.find(Finding{Refuse, key, reason}) }

func (j *judge) find(f Finding) {
	i := slices.IndexFunc(j.findings, func(old Finding) bool { return old.Key == f.Key })
	if i < 0 {
		j.findings = append(j.findings, f)
		return
	}
	if f.Level > j.findings[i].Level {
		j.findings[i] = f
	}
}

// Limits of the walk: how deep shells, functions and wrappers are followed, and
// how many commands are judged. Loops and functions multiply them.
const (
	maxDepth = 16
	maxSteps = 20_000
)

// script judges text that a shell will read.
func (j *judge) script(text string) {
	if j.depth >= maxDepth {
		j.ask("too-deep", "commands are nested too deeply to check")
		return
	}
	j.depth++
	defer func() { j.depth-- }()
	list, err := parse(text)
	j.stmts(list, input{})
	if err != nil {
		j.ask("unreadable", "the command cannot be parsed (unbalanced quotes or brackets)")
		j.matchText(text)
	}
}

// parse reads statements up to the first syntax error. A shell runs the
// statements before the error anyway.
func parse(text string) ([]*syntax.Stmt, error) {
	if openers(text) > maxNesting {
		return nil, errNested
	}
	var list []*syntax.Stmt
	var first error
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		// No break: the parser continues after some errors, and would panic.
		if first == nil && err != nil {
			first = err
		}
		if first == nil {
			list = append(list, s)
		}
	}
	return list, first
}

// openers counts what may open a nested construct.
func openers(text string) int {
	n := 0
	for _, opener := range []string{"(", "{", "`", "if ", "while ", "until ", "for ", "case ", "[["} {
		n += strings.Count(text, opener)
	}
	return n
}
