// Package inspect answers questions about a command line other than whether it is
// dangerous: whether it only reads, whether what it prints is from this machine, which paths
// it names, and where sudo needs a password. It follows no variables and uses no disk.
package inspect

import (
	"path"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

const (
	// maxPaths limits the paths that are returned for one line.
	maxPaths = 64
	// maxScripts limits the scripts of "sh -c" that are read within each other.
	maxScripts = 3
)

// Paths returns the words of a line that may name files and folders, in the
// order of the text: arguments, redirections, values, and the folders that the
// line changes to. Relative ones are joined with the folder in which the line is
// then, and are relative to the one in which it starts. What is not known from
// the line is left out, as are URLs and what echo prints. Of a pattern, the
// folder before it is returned. Most words are no paths: look whether there is
// such a file.
func Paths(line string) []string {
	t := tracker{seen: map[string]bool{}}
	t.read(line)
	return t.out
}

// tracker tracks the current folder of a line.
type tracker struct {
	at      string // the current folder, relative to the start or absolute
	lost    bool   // it is unknown
	out     []string
	seen    map[string]bool
	scripts int     // that are being read
	open    []scope // nodes that are being walked
}

// scope is a node and the current folder when it was entered.
type scope struct {
	subshell bool // its folder changes end with it
	at       string
	lost     bool
}

func (t *tracker) read(line string) {
	list, _ := lex.Parse(line) // the statements before a syntax error
	for _, s := range list {
		syntax.Walk(s, t.visit)
	}
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
		t.call(n)
	case *syntax.Assign:
		t.word(n.Value)
	case *syntax.Redirect:
		t.redirect(n)
	case *syntax.WordIter:
		t.words(n.Items)
	case *syntax.UnaryTest:
		t.test(n.X)
	case *syntax.BinaryTest:
		t.test(n.X)
		t.test(n.Y)
	}
	t.open = append(t.open, scope{subshell, t.at, t.lost})
	return true
}

// call takes the words of a command.
func (t *tracker) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	name, _ := lex.Literal(c.Args[0])
	switch target, changes := cdTarget(c); {
	case changes:
		t.enter(target)
		return
	case name == "popd":
		t.lost = true
		return
	case name == "echo" || name == "printf":
		return
	case strings.Contains(name, "/"):
		t.word(c.Args[0])
	}
	args := c.Args[1:]
	if i := scriptArgument(c.Args); i > 0 {
		if text, known := lex.Literal(c.Args[i]); known {
			t.words(c.Args[1:i])
			t.script(text)
			args = c.Args[i+1:]
		}
	}
	t.words(args)
}

// scriptArgument returns the index of the script in "sh -c script", also behind
// a wrapper, or 0.
func scriptArgument(args []*syntax.Word) int {
	shell := false
	for i, w := range args {
		text, known := lex.Literal(w)
		switch {
		case !known:
		case program.IsShell(lex.Program(text)):
			shell = true
		case shell && strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "c") && i+1 < len(args):
			return i + 1
		}
	}
	return 0
}

// script reads the text of a shell that the line starts.
func (t *tracker) script(text string) {
	if t.scripts >= maxScripts {
		return
	}
	at, lost := t.at, t.lost
	t.scripts++
	t.read(text)
	t.scripts--
	t.at, t.lost = at, lost
}

func (t *tracker) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	}
	if lex.Duplicates(r) {
		return
	}
	t.word(r.Word)
}

func (t *tracker) test(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		t.word(w)
	}
}

func (t *tracker) words(list []*syntax.Word) {
	for _, w := range list {
		t.word(w)
	}
}

// word adds the paths that a word may hold.
func (t *tracker) word(w *syntax.Word) {
	if w == nil || len(t.out) >= maxPaths {
		return
	}
	text, known := lex.Literal(w)
	if !known || lex.HasPattern(w) {
		text = beforePattern(w)
	}
	for _, p := range pathsIn(text) {
		t.mention(p)
	}
}

// mention adds a path. One relative to an unknown folder is unknown.
func (t *tracker) mention(p string) {
	if !rooted(p) {
		if t.lost {
			return
		}
		p = path.Join(t.at, p)
	}
	t.add(p)
}

func (t *tracker) add(p string) {
	if !t.seen[p] && len(t.out) < maxPaths && p != "/dev/null" {
		t.seen[p] = true
		t.out = append(t.out, p)
	}
}

func rooted(p string) bool { return path.IsAbs(p) || strings.HasPrefix(p, "~") }

// enter changes to a folder. A path relative to an unknown folder is unknown.
func (t *tracker) enter(target string) {
	switch {
	case target == "":
		t.lost = true
		return
	case rooted(target):
		t.at, t.lost = target, false
	case !t.lost:
		t.at = path.Join(t.at, target)
	}
	if !t.lost {
		t.add(t.at)
	}
}

// pathsIn returns the paths that a word may hold: itself without its option, and
// the parts of it with a colon, as in HEAD:path and path:12.
func pathsIn(text string) []string {
	if i := strings.IndexByte(text, '='); i > 0 && !strings.ContainsAny(text[:i], "/.:") {
		text = text[i+1:]
	} else if strings.HasPrefix(text, "-") {
		if len(text) < 3 || text[1] == '-' || !strings.Contains(text, "/") {
			return nil
		}
		text = text[2:] // -Ifolder
	}
	text = strings.TrimSuffix(text, "/...") // the packages of Go below a folder
	if strings.Contains(text, "://") || !strings.ContainsFunc(text, inFileName) {
		return nil
	}
	list := []string{text}
	if strings.Contains(text, ":") {
		for part := range strings.SplitSeq(text, ":") {
			if strings.Contains(part, "/") && strings.ContainsFunc(part, inFileName) {
				list = append(list, part)
			}
		}
	}
	return list
}

// inFileName reports whether a character makes a word more than punctuation.
func inFileName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '~' }

// beforePattern returns the folder before the first pattern or brace of a word, or
// "".
func beforePattern(w *syntax.Word) string {
	if len(w.Parts) == 0 {
		return ""
	}
	l, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return ""
	}
	i := strings.IndexAny(l.Value, "*?[{")
	if i < 0 {
		return ""
	}
	return lex.Unescape(l.Value[:strings.LastIndexByte(l.Value[:i], '/')+1], false)
}

// cdTarget returns the target of cd or pushd, "" if it is unknown.
func cdTarget(c *syntax.CallExpr) (target string, ok bool) {
	if name := c.Args[0].Lit(); name != "cd" && name != "pushd" {
		return "", false
	}
	for _, w := range c.Args[1:] {
		text, known := lex.Literal(w)
		if !known || lex.HasPattern(w) {
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
