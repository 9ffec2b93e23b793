package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxFolders limits the folders that are returned for one line.
const maxFolders = 16

// Folders returns the folders that a line changes to with cd and pushd, in the
// order of the text. Relative targets are joined with those before them, and
// are relative to the folder in which the line starts. Targets that are not
// known from the line (variables, patterns, "-") are left out.
func Folders(line string) []string {
	if !strings.Contains(line, "cd") && !strings.Contains(line, "pushd") {
		return nil
	}
	list, _ := parse(line) // the statements before a syntax error
	var t tracker
	for _, s := range list {
		syntax.Walk(s, t.visit)
	}
	return t.out
}

// tracker tracks the current folder of a line.
type tracker struct {
	at   string // the current folder, relative to the start or absolute
	lost bool   // it is unknown
	out  []string
	open []scope // nodes that are being walked
}

// scope is a node and the current folder when it was entered.
type scope struct {
	subshell bool // its folder changes end with it
	at       string
	lost     bool
}

func (t *tracker) visit(n syntax.Node) bool {
	if n == nil {
		last := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		if last.subshell {
			t.at, t.lost = last.at, last.lost
		}
		return true
	}
	subshell := false
	switch n := n.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
		subshell = true
	case *syntax.CallExpr:
		if target, ok := cdTarget(n); ok {
			t.enter(target)
		}
	}
	t.open = append(t.open, scope{subshell, t.at, t.lost})
	return true
}

// enter changes to a folder. A path relative to an unknown folder is unknown.
func (t *tracker) enter(target string) {
	switch {
	case target == "":
		t.lost = true
		return
	case path.IsAbs(target) || strings.HasPrefix(target, "~"):
		t.at, t.lost = target, false
	case !t.lost:
		t.at = path.Join(t.at, target)
	}
	if !t.lost && len(t.out) < maxFolders {
		t.out = append(t.out, t.at)
	}
}

// cdTarget returns the target of cd or pushd, "" if it is unknown.
func cdTarget(c *syntax.CallExpr) (target string, ok bool) {
	if len(c.Args) == 0 {
		return "", false
	}
	if name := c.Args[0].Lit(); name != "cd" && name != "pushd" {
		return "", false
	}
	for _, w := range c.Args[1:] {
		text, known := literal(w)
		if !known || hasPattern(w) {
			return "", true
		}
		if text == "-" || text == "" || text[0] == '+' {
			return "", true
		}
		if text[0] != '-' {
			return text, true
		}
	}
	return "", true
}

// hasPattern reports whether a word has a glob pattern outside quotes.
func hasPattern(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.ContainsAny(l.Value, "*?[")
	})
}
