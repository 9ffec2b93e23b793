package shell

import "mvdan.cc/sh/v3/syntax"

// LastCommand returns the words of the command that decides the exit status of
// a line: the last of a chain or pipe, without wrappers and assignments, and its
// name without folder. It returns nil if that command is unknown.
func LastCommand(line string) []string {
	list, err := parse(line)
	if err != nil || len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	for {
		b, ok := last.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		last = b.Y
	}
	if last.Negated || last.Background {
		return nil
	}
	if _, ok := last.Cmd.(*syntax.TestClause); ok {
		return []string{"[["}
	}
	c, ok := last.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	args := newJudge(Context{}).words(c.Args)
	for range maxDepth {
		if len(args) == 0 {
			return nil
		}
		args[0] = program(args[0])
		w, ok := wrapperOf(args[0])
		if !ok {
			return args
		}
		args = w.inner(args[1:])
	}
	return nil
}
