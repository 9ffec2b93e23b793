package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// endless judges a loop without an end that starts a process in each round and
// waits for none.
func (j *judge) endless(c *syntax.WhileClause) {
	if len(c.Cond) != 1 || !always(c.Cond[0], c.Until) {
		return
	}
	j.startsWithoutEnd(c.Do)
}

// startsWithoutEnd judges the body of a loop without an end.
func (j *judge) startsWithoutEnd(body []*syntax.Stmt) {
	starts, waits := false, false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				starts = starts || n.Background
			case *syntax.CallExpr:
				waits = waits || within("sleep wait read break return exit inotifywait fswatch", called(n))
			}
			return true
		})
	}
	if starts && !waits {
		j.ask("endless-processes", "starts processes without an end")
	}
}

// always reports whether a condition never changes.
func always(s *syntax.Stmt, until bool) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	name := called(c)
	if until {
		return name == "false"
	}
	if (name == "[" || name == "test") && len(c.Args) > 1 {
		text, known := literal(c.Args[1])
		return known && text != "" && strings.Trim(text, "1") == ""
	}
	return name == ":" || name == "true"
}
