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

// Judge judges a shell command line. It parses the line as a shell would and
// judges each command, also behind wrappers such as sudo and xargs, in
// substitutions and in text passed to another shell. Text that cannot be parsed,
// or is only known at run time, gets the level Ask. Judge is pure and fast
// (microseconds for a usual line) and may be called concurrently.
func Judge(line string, on Context) Verdict {
	j := newJudge(on)
	j.line(line)
	// Judge what the line looks like on a screen as well as what the shell
	// reads: each can hide something that the other shows.
	if plain := normalize(line); plain != line {
		again := newJudge(on)
		again.line(plain)
		for _, f := range again.findings {
			j.find(f)
		}
	}
	slices.SortStableFunc(j.findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return Verdict{Findings: j.findings}
}

// judge walks one line. It tracks what is known without running anything:
// variables, folders, functions, aliases and files.
type judge struct {
	context Context
	state
	input    input  // of the shell, after exec with a redirection
	dir      string // the folder in which the current command runs; "" is unknown
	owned    bool   // vars is not shared
	changes  int    // of the state
	choice   int    // which alternative is judged
	most     int    // how many alternatives the current command has
	funcs    map[string][]*syntax.Stmt
	active   []*syntax.Stmt // functions that are being called
	aliases  map[string]string
	files    map[string]content // files that the line wrote
	copies   map[string]bool    // files into which the line put a secret
	made     []string           // files that were made executable
	traps    []string           // text that runs when the shell ends
	links    links              // made by the line, or found on disk
	remotes  []string           // of git, which the line adds
	visited  []string           // folders that the line changes to
	rights   int                // how many wrappers give the rights of the system
	seen     func([]string)     // is called with each command; may be nil
	probing  bool               // what is judged may not be a command at all
	depth    int
	steps    int
	work     int
	findings []Finding
}

func newJudge(on Context) *judge {
	on.Hermes = cmp.Or(on.Hermes, on.Home+"/.hermes")
	return &judge{context: on, state: state{dirs: []string{on.Dir}}, dir: on.Dir}
}

// line judges a whole line and what it leaves to run at its end.
func (j *judge) line(text string) {
	j.script(withoutMarks(text))
	for i := 0; i < len(j.traps); i++ { // a trap may set another
		if i == maxAlternatives {
			j.exhausted()
			break
		}
		j.script(j.traps[i])
	}
	if j.steps > maxSteps || j.work > maxWork {
		j.matchText(text)
	}
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

// withoutMarks replaces the characters that mark unknown text.
func withoutMarks(line string) string {
	if !strings.ContainsAny(line, marks+split) {
		return line
	}
	out := []byte(line)
	for i, c := range out {
		if strings.IndexByte(marks+split, c) >= 0 {
			out[i] = 0x7f
		}
	}
	return string(out)
}

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

// unknownName is a variable that is always unknown.
const unknownName = "UNKNOWN"

// scriptText is expanded text in a form that can be parsed again.
func scriptText(text string) string {
	if !dynamic(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(marks, text[i]) < 0 {
			b.WriteByte(text[i])
			continue
		}
		if text[i] == unknown[0] {
			b.WriteString("${" + unknownName + "}")
		}
	}
	return b.String()
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
