package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges a simple command and the assignments before it.
func (j *judge) call(c *syntax.CallExpr, in input, background bool) {
	for _, w := range c.Args {
		j.substitutions(w)
	}
	args := j.words(c.Args)
	if len(args) == 0 {
		j.assign(c.Assigns)
		return
	}
	j.assignedFor(c.Assigns, func() {
		s := situation{in: in, background: background}
		j.callAlias(c.Args[0].Lit(), args[1:])
		if j.callFunction(args, s.in) {
			s.shadowed = true
		}
		j.argv(args, s)
		if len(args) == 1 && args[0] == "exec" { // its redirections hold for the rest
			j.input = in
		}
	})
}

// assignedFor judges a command with the assignments before it, which end with it.
func (j *judge) assignedFor(list []*syntax.Assign, command func()) {
	if len(list) == 0 {
		command()
		return
	}
	before := make([]variable, len(list))
	for i, a := range list {
		if a.Name != nil {
			before[i] = j.vars[a.Name.Value]
		}
	}
	j.assign(list)
	for _, a := range list {
		if a.Name != nil {
			value, _ := j.value(a.Name.Value)
			j.hiddenTexts("", []string{value})
		}
	}
	command()
	for i, a := range slices.Backward(list) {
		switch {
		case a.Name == nil:
		case before[i].equal(variable{}):
			j.unset(a.Name.Value)
		default:
			j.set(a.Name.Value, before[i])
		}
	}
}

// callFunction judges a call of a function of the line, in each of its forms. It
// reports false if there is none.
func (j *judge) callFunction(args []string, in input) bool {
	bodies := j.funcs[args[0]]
	if len(bodies) == 0 || j.depth >= maxDepth {
		return false
	}
	var ways []func()
	for _, body := range bodies {
		if slices.Contains(j.active, body) { // a function that calls itself is followed once
			return false
		}
		ways = append(ways, func() { j.stmt(body, in) })
	}
	j.depth++
	active := j.active
	j.active = append(slices.Clone(active), bodies...)
	j.withParameters(args[1:], func() { j.branches(ways...) })
	j.active = active
	j.depth--
	return true
}

// declare judges export, local and their relatives.
func (j *judge) declare(c *syntax.DeclClause) {
	j.exportsFunction(c)
	if c.Variant.Value == "nameref" {
		j.declareWord("nameref", "")
	}
	for _, a := range c.Args {
		if a.Naked && a.Value != nil {
			j.substitutions(a.Value)
			for _, text := range j.words([]*syntax.Word{a.Value}) {
				j.declareWord(c.Variant.Value, text)
			}
		}
	}
	j.assign(c.Args)
}

// declareWord judges a word of a declaration that is only known after expansion.
func (j *judge) declareWord(verb, text string) {
	j.hiddenTexts(verb, []string{text})
	switch name, value, ok := strings.Cut(text, "="); {
	case verb == "nameref", strings.HasPrefix(text, "-") && strings.Contains(text, "n") && verb != "export":
		j.refs = true
		j.forget()
	case strings.HasPrefix(text, "-"):
	case dynamic(name):
		j.forget()
		j.ask("environment", "sets variables whose names are only known at run time")
	case ok:
		j.set(strings.TrimSuffix(name, "+"), exactly(value))
		j.assigned(name, value)
	}
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
		if a.Index != nil {
			j.substitutions(a.Index)
		}
		if a.Name == nil || a.Naked {
			continue
		}
		name := a.Name.Value
		var value variable
		j.withUsualValue(name, func() { value = j.assignment(a) })
		j.set(name, value)
		text := unknown
		if !value.array {
			text = j.choose(value.may)
		}
		j.indexText(text)
		j.assigned(name, text)
	}
}

// assignment is the value that an assignment gives.
func (j *judge) assignment(a *syntax.Assign) variable {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		var list []string
		if a.Append {
			if len(j.vars[name].may) > 0 {
				return exactly(unknown)
			}
			list = slices.Clone(j.vars[name].list)
		}
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				return exactly(unknown)
			}
			list = append(list, j.words([]*syntax.Word{e.Value})...)
		}
		return elements(list)
	case a.Index != nil:
		return j.elementSet(a)
	case a.Append && j.vars[name].array:
		return exactly(unknown)
	case a.Append:
		old, _ := j.value(name)
		if _, ok := j.vars[name]; !ok {
			old = unknown
		}
		return exactly(old + j.word(a.Value))
	case a.Value == nil:
		return exactly("")
	}
	return exactly(j.word(a.Value))
}

func (j *judge) elementSet(a *syntax.Assign) variable {
	at, ok := number(a.Index)
	v := j.vars[a.Name.Value]
	if !ok || a.Append || at < 0 || at > len(v.list) || len(v.may) > 0 {
		return exactly(unknown)
	}
	list := slices.Clone(v.list)
	return elements(append(list[:at], append([]string{j.word(a.Value)}, list[min(at+1, len(list)):]...)...))
}

// indexText judges the index of an array in a text: where the text is used as a
// number or as the name of a variable, the shell expands it.
func (j *judge) indexText(text string) {
	if strings.Contains(text, "[$(") || strings.Contains(text, "[`") {
		j.hiddenTexts("", []string{text})
	}
}
