package inspect

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// Sudo is a line that is prepared to pass sudo its password through standard
// input.
type Sudo struct {
	// Line is what to run.
	Line string
	// Lines is how many lines with the password the input needs.
	Lines int
}

// FeedSudo changes the sudo commands of a line to read a password from standard
// input without a prompt. It reports false for a line without sudo at a command
// position, or whose sudo options already decide how it gets a password.
//
// If the line runs nothing but sudo, and every one reads the input of the line itself,
// each gets the password. Else an extra sudo before the line takes the password, nothing
// else of the line has its input, and sudo's own cache serves the others. A line that
// makes a function is not changed: it may be called sudo.
func FeedSudo(line string) (Sudo, bool) {
	list, err := lex.Parse(line)
	if err != nil {
		return Sudo{}, false
	}
	found := findAll(nil, list, false)
	if len(found) == 0 {
		return Sudo{}, false
	}
	for _, f := range found {
		if f.settled {
			return Sudo{}, false
		}
	}
	only, makes := onlySudo(list)
	if makes {
		return Sudo{}, false
	}
	if !only || slices.ContainsFunc(found, func(f sudoCall) bool { return f.fed }) {
		return Sudo{Line: "sudo -S -p '' -v && {\n" + line + "\n} </dev/null", Lines: 1}, true
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(line[at:f.end])
		b.WriteString(" -k -S -p ''")
		at = f.end
	}
	b.WriteString(line[at:])
	return Sudo{Line: b.String(), Lines: len(found)}, true
}

// onlySudo reports whether every command of a line is sudo, also those in substitutions,
// and whether it makes a function.
func onlySudo(list []*syntax.Stmt) (only, makes bool) {
	only = true
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				only = only && (len(n.Args) == 0 || slices.Contains([]string{"sudo", "/usr/bin/sudo", "/bin/sudo"}, n.Args[0].Lit()))
			case *syntax.FuncDecl:
				makes = true
			}
			return true
		})
	}
	return only, makes
}

// sudoCall is sudo at a command position.
type sudoCall struct {
	end     int  // where the word ends
	fed     bool // its input is not that of the line
	settled bool // its options decide how it gets a password, or that it needs none
}

// findSudo collects the sudo calls of a statement, in order. The stages of a pipe
// after the first have other input. Loop bodies count as such, too, since the
// number of repeats is unknown.
func findSudo(to []sudoCall, s *syntax.Stmt, fed bool) []sudoCall {
	if s == nil {
		return to
	}
	for _, r := range s.Redirs {
		fed = fed || r.Op == syntax.RdrIn || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		piped := c.Op == syntax.Pipe || c.Op == syntax.PipeAll
		return findSudo(findSudo(to, c.X, fed), c.Y, fed || piped)
	case *syntax.CallExpr:
		return sudoIn(to, c, fed || s.Background)
	case *syntax.Block:
		return findAll(to, c.Stmts, fed)
	case *syntax.Subshell:
		return findAll(to, c.Stmts, fed)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			to = findAll(findAll(to, c.Cond, true), c.Then, true)
		}
	case *syntax.WhileClause:
		return findAll(findAll(to, c.Cond, true), c.Do, true)
	case *syntax.ForClause:
		return findAll(to, c.Do, true)
	case *syntax.TimeClause:
		return findSudo(to, c.Stmt, fed)
	}
	return to
}

func findAll(to []sudoCall, list []*syntax.Stmt, fed bool) []sudoCall {
	for _, s := range list {
		to = findSudo(to, s, fed)
	}
	return to
}

func sudoIn(to []sudoCall, c *syntax.CallExpr, fed bool) []sudoCall {
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = w.Lit()
	}
	for at := 0; at < len(words); {
		name := lex.Program(words[at])
		wrap, ok := program.WrapperOf(name)
		if !ok {
			return to
		}
		inner := wrap.Inner(words[at+1:])
		if name == "sudo" {
			own := words[at+1 : len(words)-len(inner)]
			return append(to, sudoCall{end: int(c.Args[at].End().Offset()), fed: fed, settled: settles(own)})
		}
		at = len(words) - len(inner)
	}
	return to
}

// settles reports whether sudo's options decide how it gets its password, or that
// it needs none.
func settles(own []string) bool {
	if getopt.HasShort(own, "SAnkKVhl") {
		return true
	}
	for _, option := range []string{"--stdin", "--askpass", "--non-interactive", "--help", "--version", "--list"} {
		if getopt.HasLong(own, option) {
			return true
		}
	}
	return false
}
