package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Level says what is to be done about a command.
type Level int

// The levels, in rising order.
const (
	// Allow: nothing was found.
	Allow Level = iota
	// Ask: the person decides.
	Ask
	// Refuse: the floor. No mode and no consent allows it.
	Refuse
)

// Finding is one concern about a command.
type Finding struct {
	Level Level
	// Key names the pattern, such as "recursive-delete". Keys never change,
	// since people's consent is stored under them.
	Key string
	// Reason says in plain words what is dangerous.
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

// Context is what a command is judged on. The zero value judges without
// knowing anybody's home.
type Context struct {
	// Home is the person's home folder, absolute.
	Home string
	// Hermes is the folder of Hermes itself; empty is .hermes in Home.
	Hermes string
	// Dir is the folder in which the command shall run; empty is unknown.
	Dir string
	// PID is the process id of Hermes; 0 is unknown.
	PID int
	// Gateway is set while the gateway runs in this very process: then it
	// must not be stopped from inside.
	Gateway bool
}

// maxNesting is how many brackets a line may open before it counts as
// unreadable; the parser's stack grows with them.
const maxNesting = 2000

// Judge judges a shell command line. It reads the line as a shell would and
// looks at the command at every command position, through wrappers such as
// sudo and xargs, in substitutions and in text given to another shell. What
// cannot be read, or is only known when it runs, is asked about. It is pure,
// quick (microseconds for a usual line) and may be called concurrently.
func Judge(line string, on Context) Verdict {
	on.Hermes = cmp.Or(on.Hermes, on.Home+"/.hermes")
	j := &judge{context: on, dir: on.Dir, vars: map[string]string{}}
	j.script(line)
	// What it looks like to a person is judged as well as what the shell
	// reads: each can hide something from the other.
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

// judge walks through one line. It follows what can be known without running
// anything: literal variables, cd, functions.
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

// Bounds of the walk: how deep shells, functions and wrappers are followed,
// and how many commands are looked at. Loops and functions multiply them.
const (
	maxDepth = 16
	maxSteps = 20_000
)

// script judges text that a shell will read.
func (j *judge) script(text string) {
	if j.depth >= maxDepth {
		j.ask("too-deep", "commands are nested too deeply to be judged")
		return
	}
	j.depth++
	defer func() { j.depth-- }()
	list, err := parse(text)
	j.stmts(list, input{})
	if err != nil {
		j.ask("unreadable", "the command cannot be read as shell text (unbalanced quotes or brackets)")
		j.net(text)
	}
}

// parse reads statements up to the first that cannot be read: a shell runs
// those before it all the same.
func parse(text string) ([]*syntax.Stmt, error) {
	if openers(text) > maxNesting {
		return nil, errNested
	}
	var list []*syntax.Stmt
	var first error
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		// No break: the parser goes on behind some errors, and would panic.
		if first == nil && err != nil {
			first = err
		}
		if first == nil {
			list = append(list, s)
		}
	}
	return list, first
}

// openers counts what may open something that nests.
func openers(text string) int {
	n := 0
	for _, opener := range []string{"(", "{", "`", "if ", "while ", "until ", "for ", "case ", "[["} {
		n += strings.Count(text, opener)
	}
	return n
}
