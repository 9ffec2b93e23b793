package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// binary judges a && b, a || b, and pipes.
func (j *judge) binary(c *syntax.BinaryCmd, in input) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		j.stmt(c.X, in)
		j.stmt(c.Y, in)
		return
	}
	for _, stage := range stages(nil, c) {
		in = j.piped(stage, in)
	}
}

// piped judges one stage of a pipe and returns the input of the next one.
func (j *judge) piped(s *syntax.Stmt, in input) input {
	j.inSubshell(func() { j.stmt(s, in) })
	out := input{fed: true, download: in.download, pids: in.pids}
	for _, name := range commandNames(s) {
		out.download = out.download || isDownload(name)
		out.pids = out.pids || isProcessSearch(name)
		out.shell = out.shell || isShell(name)
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && !out.download {
		out.text, out.known = j.printed(call, j.redirects(s.Redirs, in))
	}
	return out
}

func stages(to []*syntax.Stmt, c *syntax.BinaryCmd) []*syntax.Stmt {
	for _, s := range []*syntax.Stmt{c.X, c.Y} {
		if inner, ok := s.Cmd.(*syntax.BinaryCmd); ok && (inner.Op == syntax.Pipe || inner.Op == syntax.PipeAll) {
			to = stages(to, inner)
			continue
		}
		to = append(to, s)
	}
	return to
}

// printed returns what a command prints, if that is known: for echo, printf and
// cat of a here-document.
func (j *judge) printed(c *syntax.CallExpr, in input) (string, bool) {
	args := j.words(c.Args)
	if len(args) == 0 {
		return "", false
	}
	text := ""
	switch program(args[0]) {
	case "echo":
		rest := args[1:]
		for len(rest) > 0 && (rest[0] == "-n" || rest[0] == "-e" || rest[0] == "-ne" || rest[0] == "-en") {
			rest = rest[1:]
		}
		text = strings.ReplaceAll(strings.Join(rest, " "), `\n`, "\n")
	case "printf":
		if len(args) < 2 {
			return "", false
		}
		text = strings.ReplaceAll(args[1], `\n`, "\n")
		for _, a := range args[2:] {
			text = strings.Replace(text, "%s", a, 1)
		}
	case "cat":
		if len(args) > 1 && args[1] != "-" || !in.known {
			return "", false
		}
		text = in.text
	case "pwd":
		text = j.dir
	case "nproc":
		text = "4"
	case "which":
		text = args[len(args)-1]
	default:
		return "", false
	}
	return text, text != "" && !dynamic(text)
}

// commandNames lists the names at the command positions of a statement.
func commandNames(n syntax.Node) []string {
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for _, w := range c.Args {
				name := path.Base(strings.ToLower(w.Lit()))
				names = append(names, name)
				if !isWrapper(name) {
					break
				}
			}
		}
		return true
	})
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
