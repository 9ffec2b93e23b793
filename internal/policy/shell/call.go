package shell

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges a simple command and the assignments before it.
func (j *judge) call(c *syntax.CallExpr, in input, background bool) {
	for _, w := range c.Args {
		j.substitutions(w)
	}
	if len(c.Args) == 0 {
		j.assign(c.Assigns)
		return
	}
	before := j.vars
	if len(c.Assigns) > 0 {
		j.vars = maps.Clone(before)
		j.assign(c.Assigns)
	}
	args := j.words(c.Args)
	if len(c.Assigns) > 0 {
		j.vars = before
	}
	if len(args) == 0 {
		return
	}
	if body := j.funcs[args[0]]; body != nil && j.depth < maxDepth {
		j.callFunction(body, args, in)
		return
	}
	j.argv(args, situation{in: in, background: background})
}

func (j *judge) callFunction(body *syntax.Stmt, args []string, in input) {
	funcs := j.funcs
	j.depth++
	j.funcs = maps.Clone(funcs)
	delete(j.funcs, args[0]) // a function that calls itself is followed once
	j.inSubshell(func() {
		for i, a := range args[1:] {
			j.vars[string(rune('1'+i))] = a
			if i == 8 {
				break
			}
		}
		j.vars["@"], j.vars["*"] = strings.Join(args[1:], " "), strings.Join(args[1:], " ")
		j.stmt(body, in)
	})
	j.funcs = funcs
	j.depth--
}

// assign records assignments.
func (j *judge) assign(list []*syntax.Assign) {
	for _, a := range list {
		if a.Value != nil {
			j.substitutions(a.Value)
		}
		if a.Array != nil {
			j.substitutions(a.Array)
		}
		if a.Name == nil {
			if a.Value != nil {
				j.exported(j.word(a.Value))
			}
			continue
		}
		name := a.Name.Value
		switch {
		case a.Naked:
			continue
		case a.Value == nil && a.Array == nil:
			j.vars[name] = ""
		case a.Value == nil || a.Index != nil:
			j.vars[name] = unknown
		default:
			j.vars[name] = j.newValue(a)
		}
		j.assigned(name, j.vars[name])
	}
}
