package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// binary judges pipes, and chains of && and ||.
func (j *judge) binary(c *syntax.BinaryCmd, in input) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		for _, stage := range stages(nil, c) {
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
		j.branches(func() {
			for _, link := range rest[:n] {
				j.stmt(link.Y, in)
			}
		}, nil)
		rest = rest[n:]
	}
}

// piped judges one stage of a pipe and returns the input of the next one.
func (j *judge) piped(s *syntax.Stmt, in input) input {
	out := input{fed: true, download: in.download, pids: in.pids, secret: in.secret || j.showsSecret(s)}
	j.inSubshell(func() {
		j.stmt(s, in)
		call, ok := s.Cmd.(*syntax.CallExpr)
		if !ok {
			out.text, out.known = j.output([]*syntax.Stmt{s})
			return
		}
		out.text, out.known = j.printed(call, s.Redirs, in)
		if args := j.words(call.Args); len(args) > 0 {
			out.roots = j.listedRoots(program(innermost(args)), args[1:])
			out.below = append(slices.Clip(in.below), searchedFolders(args)...)
			if passesOn(program(args[0])) {
				out.roots = append(out.roots, in.roots...)
			}
		}
	})
	for _, name := range j.commandNames(s) {
		out.download = out.download || isDownload(name)
		out.pids = out.pids || isProcessSearch(name)
		out.shell = out.shell || isShell(name)
	}
	if out.download {
		out.text, out.known = "", false
	}
	return out
}

func stages(to []*syntax.Stmt, c *syntax.BinaryCmd) []*syntax.Stmt {
	for {
		to = append(to, c.Y)
		inner, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || inner.Op != syntax.Pipe && inner.Op != syntax.PipeAll || len(c.X.Redirs) > 0 {
			to = append(to, c.X)
			slices.Reverse(to)
			return to
		}
		c = inner
	}
}

// commandNames lists the names at the command positions of a statement.
func (j *judge) commandNames(n syntax.Node) []string {
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for _, w := range c.Args {
				text, _ := literal(w)
				name := program(text)
				names = append(names, name)
				if !isWrapper(name) {
					break
				}
			}
		}
		return j.work <= maxWork
	})
	j.spend(len(names))
	return names
}

func isDownload(name string) bool {
	switch name {
	case "curl", "wget", "fetch", "aria2c", "http", "https", "xh", "lynx", "iwr", "irm", "invoke-webrequest", "invoke-restmethod":
		return true
	}
	return false
}

func isProcessSearch(name string) bool {
	switch name {
	case "pgrep", "pidof", "ps", "lsof", "fuser":
		return true
	}
	return false
}
