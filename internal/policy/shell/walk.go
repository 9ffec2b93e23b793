package shell

import (
	"errors"
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var errNested = errors.New("too many brackets")

// input is what is known about the standard input of a command.
type input struct {
	fed      bool   // a pipe or a here-document, rather than a file or nothing
	text     string // its content, as far as the line shows it
	known    bool   // text is all of it
	download bool   // it comes from a download
	pids     bool   // it comes from a search for processes
	shell    bool   // it is what a shell prints
}

func (j *judge) stmts(list []*syntax.Stmt, in input) {
	for _, s := range list {
		j.stmt(s, in)
	}
}

func (j *judge) stmt(s *syntax.Stmt, in input) {
	if s == nil {
		return
	}
	if j.steps++; j.steps > maxSteps {
		j.ask("too-deep", "there are too many commands to check")
		return
	}
	in = j.redirects(s.Redirs, in)
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		j.call(c, in, s.Background)
	case *syntax.BinaryCmd:
		j.binary(c, in)
	case *syntax.Subshell:
		j.inSubshell(func() { j.stmts(c.Stmts, in) })
	case *syntax.Block:
		j.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			j.stmts(c.Cond, in)
			j.stmts(c.Then, in)
		}
	case *syntax.WhileClause:
		j.stmts(c.Cond, in)
		j.stmts(c.Do, in)
	case *syntax.ForClause:
		j.loop(c, in)
	case *syntax.CaseClause:
		j.substitutions(c.Word)
		for _, item := range c.Items {
			j.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		j.function(c, in)
	case *syntax.TimeClause:
		j.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		j.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		j.assign(c.Args)
	case nil:
	default: // tests and arithmetic run commands only in substitutions
		j.substitutions(c)
	}
}

// inSubshell judges what runs in a subshell: cd and assignments end with it.
func (j *judge) inSubshell(f func()) {
	dir, vars := j.dir, j.vars
	j.vars = maps.Clone(vars)
	f()
	j.dir, j.vars = dir, vars
}

func (j *judge) loop(c *syntax.ForClause, in input) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		j.substitutions(c.Loop)
		j.stmts(c.Do, in)
		return
	}
	for _, w := range iter.Items {
		j.substitutions(w)
	}
	values := j.words(iter.Items)
	if len(values) == 0 || len(values) > 32 {
		values = []string{unknown}
	}
	for _, v := range values {
		j.vars[iter.Name.Value] = v
		j.assigned(iter.Name.Value, v)
		j.stmts(c.Do, in)
	}
}

// function judges the body of a function and stores it for calls. A function that
// calls itself twice in a pipe, or in the background, is a fork bomb.
func (j *judge) function(c *syntax.FuncDecl, in input) {
	if c.Name == nil || c.Body == nil {
		return
	}
	name := c.Name.Value
	if multiplies(c.Body, name) {
		j.refuse("fork-bomb", "starts endless copies of itself (a fork bomb)")
		return
	}
	j.inSubshell(func() { j.stmt(c.Body, in) })
	if j.funcs == nil {
		j.funcs = map[string]*syntax.Stmt{}
	}
	j.funcs[name] = c.Body
}

func multiplies(body *syntax.Stmt, name string) bool {
	found := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || n.Background && calls(n, name)
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && calls(n.X, name) && calls(n.Y, name)
		}
		return !found
	})
	return found
}

func calls(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		found = found || ok && len(c.Args) > 0 && c.Args[0].Lit() == name
		return !found
	})
	return found
}

// substitutions judges the commands inside a word or another node.
func (j *judge) substitutions(n syntax.Node) {
	if n == nil {
		return
	}
	if w, ok := n.(*syntax.Word); ok && (w == nil || w.Lit() != "") {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			j.within(n.Stmts)
			return false
		case *syntax.ProcSubst:
			j.within(n.Stmts)
			return false
		}
		return true
	})
}

// within judges a list that runs in its own shell, as in $(…) and <(…).
func (j *judge) within(list []*syntax.Stmt) {
	if j.depth >= maxDepth {
		j.ask("too-deep", "commands are nested too deeply to check")
		return
	}
	j.depth++
	j.inSubshell(func() { j.stmts(list, input{}) })
	j.depth--
}

// redirects judges the files that are written and returns the input.
func (j *judge) redirects(list []*syntax.Redirect, in input) input {
	for _, r := range list {
		if r.Word == nil {
			continue
		}
		j.substitutions(r.Word)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = input{fed: true}
			if r.Hdoc != nil {
				j.substitutions(r.Hdoc)
				in.text, in.known = j.word(r.Hdoc), true
			}
		case syntax.WordHdoc:
			text := j.word(r.Word)
			in = input{fed: true, text: text, known: true, download: strings.Contains(text, fromDownload)}
		case syntax.RdrIn:
			text := j.word(r.Word)
			j.socket(text)
			in = input{fed: strings.Contains(text, unknown), download: strings.Contains(text, fromDownload)}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			for _, target := range j.words([]*syntax.Word{r.Word}) {
				j.write(target)
			}
		}
	}
	return in
}
