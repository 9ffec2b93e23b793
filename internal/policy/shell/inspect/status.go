package inspect

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// StatusCommand returns the words of the command that gave a line its exit
// status, if that is not 0, without wrappers and assignments, and its name
// without folder. It returns nil if another part of the line may have given it:
// the left side of &&, any part of a pipe under pipefail, a redirection that
// failed, a function, a wrapper that fails in its own ways.
func StatusCommand(line string) []string {
	list, err := lex.Parse(line)
	if err != nil || len(list) == 0 || mayEndEarly(list) {
		return nil
	}
	last := decidingStmt(list[len(list)-1])
	if last == nil || mayFailItself(last) {
		return nil
	}
	switch c := last.Cmd.(type) {
	case *syntax.TestClause:
		return []string{"[["}
	case *syntax.CallExpr:
		return unwrapped(shell.Words(c.Args))
	}
	return nil
}

// decidingStmt follows a statement to the one that gives it a status that is not
// 0, or returns nil if there are several.
func decidingStmt(s *syntax.Stmt) *syntax.Stmt {
	for {
		if s.Negated || s.Background || s.Coprocess || s.Disown {
			return nil
		}
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return s
		}
		if b.Op == syntax.AndStmt || len(s.Redirs) > 0 {
			return nil
		}
		s = b.Y // after ||, the left side has failed and this one has run
	}
}

// shellChangers are the commands of a shell that may end it or change what a
// status means.
var shellChangers = []string{
	".", "alias", "break", "continue", "enable", "eval", "exec", "exit", "logout", "return", "set", "shopt", "source", "trap", "unalias",
}

// mayEndEarly reports whether statements have a function, or a command that may
// end the shell or change what a status means.
func mayEndEarly(list []*syntax.Stmt) bool {
	found := false
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.FuncDecl:
				found = true
			case *syntax.CallExpr:
				found = found || endsShell(n.Args)
			}
			return !found
		})
	}
	return found
}

func endsShell(words []*syntax.Word) bool {
	for _, w := range words {
		name, known := lex.Literal(w)
		if name != "builtin" && name != "command" {
			return !known || slices.Contains(shellChangers, name)
		}
	}
	return false
}

// mayFailItself reports whether the shell may fail before it runs a command: a
// file that it cannot open, a value that it cannot compute.
func mayFailItself(s *syntax.Stmt) bool {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.WordHdoc, syntax.Hdoc, syntax.DashHdoc:
		default:
			if !lex.Duplicates(r) && (r.Word == nil || r.Word.Lit() != "/dev/null") {
				return true
			}
		}
	}
	fails := false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp:
			fails = true
		case *syntax.ParamExp:
			fails = fails || n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull)
		}
		return !fails
	})
	return fails
}

// transparent are the wrappers that pass on the status of what they run, and
// whose own failures have other codes than 1.
var transparent = []string{"builtin", "command", "env", "gtimeout", "ionice", "nice", "nohup", "stdbuf", "time", "timeout"}

// unwrapped returns a command without transparent wrappers, or nil.
func unwrapped(args []string) []string {
	for range lex.MaxDepth {
		if len(args) == 0 || lex.Dynamic(args[0]) {
			return nil
		}
		name := lex.Program(args[0])
		w, wraps := program.WrapperOf(name)
		switch {
		case name == "":
			return nil
		case !wraps:
			return append([]string{name}, args[1:]...)
		case !slices.Contains(transparent, name), name == "command" && len(args) > 1 && args[1] != "" && args[1][0] == '-':
			return nil // command -v looks for a program
		}
		args = w.Inner(args[1:])
	}
	return nil
}
