package lex

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Literal returns the text of a word without expansions, with quotes and
// backslashes removed. Patterns stay as they are.
func Literal(w *syntax.Word) (text string, ok bool) {
	clone := &syntax.Word{Parts: slices.Clone(w.Parts)} // do not change the tree itself
	syntax.SplitBraces(clone)
	var b strings.Builder
	for _, part := range clone.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(Unescape(p.Value, false))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				l, plain := inner.(*syntax.Lit)
				if !plain {
					return "", false
				}
				b.WriteString(Unescape(l.Value, true))
			}
		default: // expansions, and {-o,file}, which is two words
			return "", false
		}
	}
	return b.String(), true
}

// Called returns the name of the program that a command runs, "" if it is unknown.
func Called(c *syntax.CallExpr) string {
	if len(c.Args) == 0 {
		return ""
	}
	name, _ := Literal(c.Args[0])
	return name
}

// Calls reports whether a command with this name is below a node.
func Calls(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		found = found || ok && Called(c) == name
		return !found
	})
	return found
}

func callTwice(list []*syntax.Stmt, name string) bool {
	n := 0
	for _, s := range list {
		if Calls(s, name) {
			n++
		}
	}
	return n > 1
}

// Multiplies reports whether a function calls itself twice in a pipe, or in the background.
func Multiplies(body *syntax.Stmt, name string) bool {
	found := false
	within := map[syntax.Command]bool{} // pipes that are part of a longer pipe
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || n.Background && Calls(n, name)
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				break
			}
			if !within[n] {
				found = found || callTwice(Stages(nil, n), name)
			}
			within[n.X.Cmd], within[n.Y.Cmd] = true, true
		}
		return !found
	})
	return found
}

// Stages appends the statements of a pipe, from left to right.
func Stages(to []*syntax.Stmt, c *syntax.BinaryCmd) []*syntax.Stmt {
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

// Vanishes reports whether a word that expands to nothing is no word at all.
func Vanishes(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		switch p := part.(type) {
		case *syntax.SglQuoted:
			return true
		case *syntax.DblQuoted:
			if len(p.Parts) == 1 {
				e, ok := p.Parts[0].(*syntax.ParamExp)
				return !ok || e.Param == nil || e.Param.Value != "@" && IndexText(e.Index) != "@"
			}
			return true
		}
		return false
	})
}

// MayHaveBraces is a cheap check before a word is split.
func MayHaveBraces(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	})
}

// IndexText returns the index of an array if it is one literal, else "".
func IndexText(index syntax.ArithmExpr) string {
	if w, ok := index.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// Number returns an expression that is a number below the limit of words.
func Number(x syntax.ArithmExpr) (int, bool) {
	w, ok := x.(*syntax.Word)
	if !ok || w == nil {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil && n < MaxWords
}

// Always reports whether a condition never changes.
func Always(s *syntax.Stmt, until bool) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	name := Called(c)
	if until {
		return name == "false"
	}
	if (name == "[" || name == "test") && len(c.Args) > 1 {
		text, known := Literal(c.Args[1])
		return known && text != "" && strings.Trim(text, "1") == ""
	}
	return name == ":" || name == "true"
}

// Writes reports whether a redirection writes a file.
func Writes(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
		return r.Word != nil
	}
	return false
}

// Duplicates reports whether a redirection certainly leads to another open file, as 2>&1 does, rather than to one that it
// opens, as >&name does.
func Duplicates(r *syntax.Redirect) bool {
	if r.Op != syntax.DplOut && r.Op != syntax.DplIn || r.Word == nil {
		return false
	}
	to := r.Word.Lit()
	return to == "-" || to != "" && strings.Trim(strings.TrimSuffix(to, "-"), "0123456789") == ""
}

// HasPattern reports whether a word has a glob pattern outside quotes.
func HasPattern(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.ContainsAny(l.Value, "*?[")
	})
}

// StartsWithoutEnd reports whether the body of a loop without an end starts a process in
// each round and waits for none.
func StartsWithoutEnd(body []*syntax.Stmt) bool {
	starts, waits := false, false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				starts = starts || n.Background
			case *syntax.CallExpr:
				waits = waits || Within("sleep wait read break return exit inotifywait fswatch", Called(n))
			}
			return true
		})
	}
	return starts && !waits
}
