package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

func (j *judge) stmts(list []*syntax.Stmt, in track.Input) {
	for _, s := range list {
		j.stmt(s, in)
	}
}

func (j *judge) stmt(s *syntax.Stmt, in track.Input) {
	if s == nil || !j.Step() {
		return
	}
	if !in.Fed && (j.input.Fed || j.input.Secret) {
		in = j.input
	}
	if s.Background || s.Coprocess || s.Disown {
		j.InSubshell(func() { j.command(s, in) })
		return
	}
	j.command(s, in)
}

func (j *judge) command(s *syntax.Stmt, in track.Input) {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		j.Alternatives(func() {
			j.call(c, j.redirects(s.Redirs, in), s.Background)
			j.recordOutput(s, in)
		})
		return
	}
	inner := in
	if len(s.Redirs) > 0 {
		j.Alternatives(func() { inner = j.redirects(s.Redirs, in) })
	}
	j.compound(s.Cmd, inner)
	j.recordOutput(s, in)
}

func (j *judge) compound(cmd syntax.Command, in track.Input) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		j.binary(c, in)
	case *syntax.Subshell:
		j.InSubshell(func() { j.stmts(c.Stmts, in) })
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
		j.Astray = true
		j.InSubshell(func() { j.stmt(c.Stmt, track.Input{Fed: true}) })
	case *syntax.DeclClause:
		j.Alternatives(func() { j.declare(c) })
	case nil:
	default: // tests and arithmetic run commands only in substitutions
		j.substitutions(c)
		j.Arithmetic(c)
		j.quotedIndex(c)
	}
}

// condition judges if with all its branches.
func (j *judge) condition(c *syntax.IfClause, in track.Input) {
	j.stmts(c.Cond, in)
	var otherwise func()
	switch {
	case c.Else == nil:
	case len(c.Else.Cond) == 0:
		otherwise = func() { j.stmts(c.Else.Then, in) }
	default:
		otherwise = func() { j.condition(c.Else, in) }
	}
	j.Branches(func() { j.stmts(c.Then, in) }, otherwise)
}

func (j *judge) while(c *syntax.WhileClause, in track.Input) {
	if len(c.Cond) == 1 && lex.Always(c.Cond[0], c.Until) {
		j.endless(c.Do)
	}
	round := func() {
		j.stmts(c.Cond, in)
		j.Branches(func() { j.stmts(c.Do, in) }, nil)
	}
	changes := j.Changes
	round()
	if j.Changes != changes { // the second round sees what the first one changed
		round()
	}
}

func (j *judge) cases(c *syntax.CaseClause, in track.Input) {
	j.substitutions(c.Word)
	ways := []func(){nil}
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			j.substitutions(p)
		}
		ways = append(ways, func() { j.stmts(item.Stmts, in) })
	}
	j.Branches(ways...)
}

func (j *judge) loop(c *syntax.ForClause, in track.Input) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		j.substitutions(c.Loop)
		j.Arithmetic(c.Loop)
		if style, ok := c.Loop.(*syntax.CStyleLoop); ok && style.Cond == nil {
			j.endless(c.Do)
		}
		for range 2 {
			j.Branches(func() { j.stmts(c.Do, in) }, nil)
		}
		return
	}
	for _, w := range iter.Items {
		j.substitutions(w)
	}
	var values []string
	j.Alternatives(func() { values = track.Union(values, j.words(iter.Items)) })
	if !iter.InPos.IsValid() {
		values, _ = j.List("@", nil)
	}
	once := slices.ContainsFunc(values, func(v string) bool { return !lex.Dynamic(v) })
	if len(values) == 0 || len(values) > lex.MaxIterations || c.Select {
		values = []string{lex.Filled}
	}
	rounds := func() { j.rounds(iter.Name.Value, values, c.Do, in) }
	if once {
		rounds()
		return
	}
	j.Branches(rounds, nil)
}

// rounds judges the body of a loop for each value. A round may be the last one,
// so what it changed stays possible.
func (j *judge) rounds(name string, values []string, body []*syntax.Stmt, in track.Input) {
	var after []track.State
	breaks := slices.ContainsFunc(body, func(s *syntax.Stmt) bool { return lex.Calls(s, "break") })
	for _, v := range values {
		j.Set(name, track.Exactly(v))
		environ.Assigned(j.Line, name, v)
		changes := j.Changes
		j.stmts(body, in)
		if breaks || j.Changes != changes {
			after = append(after, j.Save())
		}
	}
	if len(after) == 0 {
		return
	}
	end := j.Save()
	for _, s := range after {
		end = track.Merged(end, s)
	}
	j.Restore(end)
}

// function judges the body of a function and stores it for calls. A function that
// calls itself twice in a pipe, or in the background, is a fork bomb.
func (j *judge) function(c *syntax.FuncDecl, in track.Input) {
	if c.Name == nil || c.Body == nil {
		return
	}
	name := c.Name.Value
	if c.Body.End().Offset()-c.Body.Pos().Offset() > lex.MaxFunction {
		j.Exhausted()
		return
	}
	if lex.Multiplies(c.Body, name) {
		j.Refuse("fork-bomb", "starts endless copies of itself (a fork bomb)")
		return
	}
	if j.Funcs == nil {
		j.Funcs = map[string][]*syntax.Stmt{}
	}
	if slices.Contains(j.Funcs[name], c.Body) {
		return
	}
	if len(j.Funcs[name]) >= lex.MaxAlternatives || len(j.Funcs) >= lex.MaxVariables {
		j.Exhausted()
		return
	}
	j.InSubshell(func() {
		j.Params, j.Open = nil, lex.Deferred
		j.stmt(c.Body, in)
	})
	j.Funcs[name] = append(j.Funcs[name], c.Body)
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
			j.within(n.Stmts, track.Input{})
			return false
		case *syntax.ProcSubst:
			j.within(n.Stmts, track.Input{Fed: n.Op == syntax.CmdOut})
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
func (j *judge) within(list []*syntax.Stmt, in track.Input) {
	j.deeper(func() { j.InSubshell(func() { j.stmts(list, in) }) })
}

// binary judges pipes, and chains of && and ||.
func (j *judge) binary(c *syntax.BinaryCmd, in track.Input) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		for _, stage := range lex.Stages(nil, c) {
			in = j.piped(stage, in)
		}
		return
	}
	var rest []*syntax.BinaryCmd // from right to left
	for {
		rest = append(rest, c)
		inner, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || inner.Op == syntax.Pipe || inner.Op == syntax.PipeAll || len(c.X.Redirs) > 0 {
			break
		}
		c = inner
	}
	slices.Reverse(rest)
	j.stmt(c.X, in)
	for len(rest) > 0 {
		n := 1 // what follows && sees what the command before it did
		for rest[0].Op == syntax.AndStmt && n < len(rest) && rest[n].Op == syntax.AndStmt {
			n++
		}
		j.Branches(func() {
			for _, link := range rest[:n] {
				j.stmt(link.Y, in)
			}
		}, nil)
		rest = rest[n:]
	}
}

// piped judges one stage of a pipe and returns the input of the next one.
func (j *judge) piped(s *syntax.Stmt, in track.Input) track.Input {
	names, xargs := j.namesSecret(s)
	out := track.Input{Fed: true, Download: in.Download, Pids: in.Pids, Names: in.Names || names, Secret: in.Secret || in.Names && xargs || j.showsSecret(s)}
	j.InSubshell(func() {
		j.stmt(s, in)
		call, ok := s.Cmd.(*syntax.CallExpr)
		if !ok {
			out.Text, out.Known = j.output([]*syntax.Stmt{s})
			return
		}
		out.Text, out.Known = j.printed(call, s.Redirs, in)
		if args := j.words(call.Args); len(args) > 0 {
			out.Roots = program.ListedRoots(lex.Program(program.Innermost(args)), args[1:])
			out.Below = append(slices.Clip(in.Below), program.SearchedFolders(args)...)
			if program.PassesOn(lex.Program(args[0])) {
				out.Roots = append(out.Roots, in.Roots...)
			}
		}
	})
	for _, name := range j.CommandNames(s) {
		out.Download = out.Download || program.IsDownload(name)
		out.Pids = out.Pids || program.IsProcessSearch(name)
		out.Shell = out.Shell || program.IsShell(name)
	}
	if out.Download {
		out.Text, out.Known = "", false
	}
	return out
}

// endless judges the body of a loop without an end.
func (j *judge) endless(body []*syntax.Stmt) {
	if lex.StartsWithoutEnd(body) {
		j.Ask("endless-processes", "starts processes without an end")
	}
}
