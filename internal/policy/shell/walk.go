package shell

import (
	"errors"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

var errNested = errors.New("too many brackets")

// input is what is known about the standard input of a command.
type input struct {
	fed      bool     // a pipe or a here-document, rather than a file or nothing
	text     string   // its content, as far as the line shows it
	known    bool     // text is all of it
	download bool     // it comes from a download
	pids     bool     // it comes from a search for processes
	shell    bool     // it is what a shell prints
	secret   bool     // it may hold a secret
	roots    []string // it lists what is in these folders
	below    []string // it lists some of what is in these folders
}

func (j *judge) stmts(list []*syntax.Stmt, in input) {
	for _, s := range list {
		j.stmt(s, in)
	}
}

func (j *judge) stmt(s *syntax.Stmt, in input) {
	if s == nil || !j.step() {
		return
	}
	if !in.fed && j.input.fed {
		in = j.input
	}
	if s.Background || s.Coprocess || s.Disown {
		j.inSubshell(func() { j.command(s, in) })
		return
	}
	j.command(s, in)
}

func (j *judge) command(s *syntax.Stmt, in input) {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		j.alternatives(func() {
			j.call(c, j.redirects(s.Redirs, in), s.Background)
			j.recordOutput(s, in)
		})
		return
	}
	inner := in
	if len(s.Redirs) > 0 {
		j.alternatives(func() { inner = j.redirects(s.Redirs, in) })
	}
	j.compound(s.Cmd, inner)
	j.recordOutput(s, in)
}

func (j *judge) compound(cmd syntax.Command, in input) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		j.binary(c, in)
	case *syntax.Subshell:
		j.inSubshell(func() { j.stmts(c.Stmts, in) })
	case *syntax.Block:
		j.stmts(c.Stmts, in)
	case *syntax.IfClause:
		j.condition(c, in)
	case *syntax.WhileClause:
		j.while(c, in)
	case *syntax.ForClause:
		j.loop(c, in)
	case *syntax.CaseClause:
		j.cases(c, in)
	case *syntax.FuncDecl:
		j.function(c, in)
	case *syntax.TimeClause:
		j.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		j.inSubshell(func() { j.stmt(c.Stmt, input{fed: true}) })
	case *syntax.DeclClause:
		j.alternatives(func() { j.declare(c) })
	case nil:
	default: // tests and arithmetic run commands only in substitutions
		j.substitutions(c)
		j.arithmetic(c)
		j.quotedIndex(c)
	}
}

// condition judges if with all its branches.
func (j *judge) condition(c *syntax.IfClause, in input) {
	j.stmts(c.Cond, in)
	var otherwise func()
	switch {
	case c.Else == nil:
	case len(c.Else.Cond) == 0:
		otherwise = func() { j.stmts(c.Else.Then, in) }
	default:
		otherwise = func() { j.condition(c.Else, in) }
	}
	j.branches(func() { j.stmts(c.Then, in) }, otherwise)
}

func (j *judge) while(c *syntax.WhileClause, in input) {
	j.endless(c)
	round := func() {
		j.stmts(c.Cond, in)
		j.branches(func() { j.stmts(c.Do, in) }, nil)
	}
	changes := j.changes
	round()
	if j.changes != changes { // the second round sees what the first one changed
		round()
	}
}

func (j *judge) cases(c *syntax.CaseClause, in input) {
	j.substitutions(c.Word)
	ways := []func(){nil}
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			j.substitutions(p)
		}
		ways = append(ways, func() { j.stmts(item.Stmts, in) })
	}
	j.branches(ways...)
}

func (j *judge) loop(c *syntax.ForClause, in input) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		j.substitutions(c.Loop)
		j.arithmetic(c.Loop)
		if style, ok := c.Loop.(*syntax.CStyleLoop); ok && style.Cond == nil {
			j.startsWithoutEnd(c.Do)
		}
		for range 2 {
			j.branches(func() { j.stmts(c.Do, in) }, nil)
		}
		return
	}
	for _, w := range iter.Items {
		j.substitutions(w)
	}
	var values []string
	j.alternatives(func() { values = union(values, j.words(iter.Items)) })
	if !iter.InPos.IsValid() {
		values, _ = j.list("@", nil)
	}
	once := slices.ContainsFunc(values, func(v string) bool { return !dynamic(v) })
	if len(values) == 0 || len(values) > maxIterations || c.Select {
		values = []string{filled}
	}
	rounds := func() { j.rounds(iter.Name.Value, values, c.Do, in) }
	if once {
		rounds()
		return
	}
	j.branches(rounds, nil)
}

// rounds judges the body of a loop for each value. A round may be the last one,
// so what it changed stays possible.
func (j *judge) rounds(name string, values []string, body []*syntax.Stmt, in input) {
	var after []state
	breaks := slices.ContainsFunc(body, func(s *syntax.Stmt) bool { return calls(s, "break") })
	for _, v := range values {
		j.set(name, exactly(v))
		j.assigned(name, v)
		changes := j.changes
		j.stmts(body, in)
		if breaks || j.changes != changes {
			after = append(after, j.save())
		}
	}
	if len(after) == 0 {
		return
	}
	end := j.save()
	for _, s := range after {
		end = merged(end, s)
	}
	j.restore(end)
}

// function judges the body of a function and stores it for calls. A function that
// calls itself twice in a pipe, or in the background, is a fork bomb.
func (j *judge) function(c *syntax.FuncDecl, in input) {
	if c.Name == nil || c.Body == nil {
		return
	}
	name := c.Name.Value
	if c.Body.End().Offset()-c.Body.Pos().Offset() > maxFunction {
		j.exhausted()
		return
	}
	if multiplies(c.Body, name) {
		j.refuse("fork-bomb", "starts endless copies of itself (a fork bomb)")
		return
	}
	if j.funcs == nil {
		j.funcs = map[string][]*syntax.Stmt{}
	}
	if slices.Contains(j.funcs[name], c.Body) {
		return
	}
	if len(j.funcs[name]) >= maxAlternatives || len(j.funcs) >= maxVariables {
		j.exhausted()
		return
	}
	j.inSubshell(func() {
		j.params, j.open = nil, deferred
		j.stmt(c.Body, in)
	})
	j.funcs[name] = append(j.funcs[name], c.Body)
}

func multiplies(body *syntax.Stmt, name string) bool {
	found := false
	within := map[syntax.Command]bool{} // pipes that are part of a longer pipe
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || n.Background && calls(n, name)
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				break
			}
			if !within[n] {
				found = found || callTwice(stages(nil, n), name)
			}
			within[n.X.Cmd], within[n.Y.Cmd] = true, true
		}
		return !found
	})
	return found
}

func callTwice(list []*syntax.Stmt, name string) bool {
	n := 0
	for _, s := range list {
		if calls(s, name) {
			n++
		}
	}
	return n > 1
}

func calls(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		found = found || ok && called(c) == name
		return !found
	})
	return found
}

// called returns the name of the program that a command runs, "" if it is unknown.
func called(c *syntax.CallExpr) string {
	if len(c.Args) == 0 {
		return ""
	}
	name, _ := literal(c.Args[0])
	return name
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
			j.within(n.Stmts, input{})
			return false
		case *syntax.ProcSubst:
			j.within(n.Stmts, input{fed: n.Op == syntax.CmdOut})
			return false
		case *syntax.ArithmExp:
			j.quotedIndex(n)
		}
		return true
	})
}

// quotedIndex judges quoted text in arithmetic: a shell expands the index of an
// array in it once more.
func (j *judge) quotedIndex(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if q, ok := n.(*syntax.SglQuoted); ok {
			j.hiddenTexts("", []string{q.Value})
		}
		return true
	})
}

// within judges a list that runs in its own shell, as in $(…) and <(…).
func (j *judge) within(list []*syntax.Stmt, in input) {
	if j.depth >= maxDepth {
		j.ask("too-deep", "commands are nested too deeply to check")
		return
	}
	j.depth++
	j.inSubshell(func() { j.stmts(list, in) })
	j.depth--
}

// arithmetic makes the variables that an arithmetic expression changes unknown.
func (j *judge) arithmetic(n syntax.Node) {
	forget := func(x syntax.ArithmExpr) {
		if w, ok := x.(*syntax.Word); ok && w.Lit() != "" {
			j.set(w.Lit(), exactly(filled))
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if n.Op == syntax.Assgn || n.Op >= syntax.AddAssgn && n.Op <= syntax.ShrAssgn {
				forget(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				forget(n.X)
			}
		}
		return true
	})
}
