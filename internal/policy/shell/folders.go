package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxFolders bounds the folders that are told of one line.
const maxFolders = 16

// Folders tells where a line goes with cd and pushd, at any command position,
// in the order of the text. Relative targets are joined with those before
// them, as from the folder in which the line starts. Targets that depend on
// what is not in the line (variables, patterns, "-") are left out.
func Folders(line string) []string {
	if !strings.Contains(line, "cd") && !strings.Contains(line, "pushd") {
		return nil
	}
	list, _ := parse(line) // those that can be read
	var t trip
	for _, s := range list {
		syntax.Walk(s, t.visit)
	}
	return t.out
}

// trip follows where a line goes.
type trip struct {
	at   string // the present folder, relative to the start or absolute
	lost bool   // it is not known
	out  []string
	open []stay // nodes that are being walked
}

// stay is a node, with the place in which it was entered.
type stay struct {
	apart bool // a process of its own, whose folder ends with it
	at    string
	lost  bool
}

func (t *trip) visit(n syntax.Node) bool {
	if n == nil {
		last := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		if last.apart {
			t.at, t.lost = last.at, last.lost
		}
		return true
	}
	apart := false
	switch n := n.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
		apart = true
	case *syntax.CallExpr:
		if target, ok := goesTo(n); ok {
			t.enter(target)
		}
	}
	t.open = append(t.open, stay{apart, t.at, t.lost})
	return true
}

// enter goes to a folder; what is relative to an unknown place is unknown.
func (t *trip) enter(target string) {
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

// goesTo is the target of cd or pushd, "" where it is not known.
func goesTo(c *syntax.CallExpr) (target string, ok bool) {
	if len(c.Args) == 0 {
		return "", false
	}
	if name := c.Args[0].Lit(); name != "cd" && name != "pushd" {
		return "", false
	}
	for _, w := range c.Args[1:] {
		text, known := literal(w)
		if !known || patterned(w) {
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

// patterned reports whether a word holds a pattern outside of quotes.
func patterned(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.ContainsAny(l.Value, "*?[")
	})
}
