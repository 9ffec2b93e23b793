package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// call judges a simple command and the assignments before it.
func (j *judge) call(c *syntax.CallExpr, in track.Input, background bool) {
	for _, w := range c.Args {
		j.substitutions(w)
	}
	args := j.words(c.Args)
	if len(args) == 0 {
		j.assign(c.Assigns)
		return
	}
	j.assignedFor(c.Assigns, func() {
		s := track.Situation{In: in, Background: background}
		j.callAlias(c.Args[0].Lit(), args[1:])
		if j.callFunction(args, s.In) {
			s.Shadowed = true
		}
		j.Command(args, s)
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
	before := make([]track.Variable, len(list))
	for i, a := range list {
		if a.Name != nil {
			before[i] = j.Vars[a.Name.Value]
		}
	}
	j.assign(list)
	for _, a := range list {
		if a.Name != nil {
			value, _ := j.Value(a.Name.Value)
			j.hiddenTexts("", []string{value})
		}
	}
	command()
	for i, a := range slices.Backward(list) {
		switch {
		case a.Name == nil:
		case before[i].Equal(track.Variable{}):
			j.Unset(a.Name.Value)
		default:
			j.Set(a.Name.Value, before[i])
		}
	}
}

// callFunction judges a call of a function of the line, in each of its forms. It
// reports false if there is none.
func (j *judge) callFunction(args []string, in track.Input) bool {
	bodies := j.Funcs[args[0]]
	if len(bodies) == 0 || j.Depth >= lex.MaxDepth {
		return false
	}
	var ways []func()
	for _, body := range bodies {
		if slices.Contains(j.active, body) { // a function that calls itself is followed once
			return false
		}
		ways = append(ways, func() { j.stmt(body, in) })
	}
	j.Depth++
	active := j.active
	j.active = append(slices.Clone(active), bodies...)
	j.WithParameters(args[1:], func() { j.Branches(ways...) })
	j.active = active
	j.Depth--
	return true
}

// declare judges export, local and their relatives.
func (j *judge) declare(c *syntax.DeclClause) {
	environ.ExportsFunction(j.Line, c)
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
		j.Refs, j.Astray = true, true
		j.Forget()
	case strings.HasPrefix(text, "-"):
	case lex.Dynamic(name):
		j.Forget()
		j.Ask("environment", "sets variables whose names are only known at run time")
	case ok:
		j.Set(strings.TrimSuffix(name, "+"), track.Exactly(value))
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
		if name == "BASH_CMDS" {
			j.Ask("environment", runsAnother)
			j.hashedBy(a)
		}
		var value track.Variable
		environ.WithUsualValue(j.Line, name, func() { value = j.assignment(a) })
		j.Set(name, value)
		text := lex.Unknown
		if !value.Array {
			text = j.Choose(value.May)
		}
		j.indexText(text)
		j.assigned(name, text)
	}
}

// hashedBy remembers what an assignment to the shell's table of programs says.
func (j *judge) hashedBy(a *syntax.Assign) {
	if w, ok := a.Index.(*syntax.Word); ok {
		j.hashes(j.word(w), j.word(a.Value))
	}
	if a.Array == nil {
		return
	}
	for _, e := range a.Array.Elems {
		if w, ok := e.Index.(*syntax.Word); ok {
			j.hashes(j.word(w), j.word(e.Value))
		}
	}
}

// assigned judges a variable that a line sets. What decides what programs run may be a file that the line wrote, or a command.
func (j *judge) assigned(name, value string) {
	if !environ.Assigned(j.Line, name, value) {
		return
	}
	j.runsFile(value, true, nil)
	j.hiddenTexts("", []string{value})
	j.give(value)
}

// assignment is the value that an assignment gives.
func (j *judge) assignment(a *syntax.Assign) track.Variable {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		var list []string
		if a.Append {
			if len(j.Vars[name].May) > 0 {
				return track.Exactly(lex.Unknown)
			}
			list = slices.Clone(j.Vars[name].List)
		}
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				return track.Exactly(lex.Unknown)
			}
			list = append(list, j.words([]*syntax.Word{e.Value})...)
		}
		return track.Elements(list)
	case a.Index != nil:
		return j.elementSet(a)
	case a.Append && j.Vars[name].Array:
		return track.Exactly(lex.Unknown)
	case a.Append:
		old, _ := j.Value(name)
		if _, ok := j.Vars[name]; !ok {
			old = lex.Unknown
		}
		return track.Exactly(old + j.word(a.Value))
	case a.Value == nil:
		return track.Exactly("")
	}
	return track.Exactly(j.word(a.Value))
}

func (j *judge) elementSet(a *syntax.Assign) track.Variable {
	at, ok := lex.Number(a.Index)
	v := j.Vars[a.Name.Value]
	value := j.word(a.Value)
	if !ok || a.Append || at < 0 || at > len(v.List) || len(v.May) > 0 {
		if strings.Contains(value, lex.FromSecret) {
			return track.Exactly(lex.FromSecret)
		}
		return track.Exactly(lex.Unknown)
	}
	list := slices.Clone(v.List)
	return track.Elements(append(list[:at], append([]string{value}, list[min(at+1, len(list)):]...)...))
}

// indexText judges the index of an array in a text: where the text is used as a
// number or as the name of a variable, the shell expands it.
func (j *judge) indexText(text string) {
	if strings.Contains(text, "[$(") || strings.Contains(text, "[`") {
		j.hiddenTexts("", []string{text})
	}
}

// alias judges the text of aliases and remembers them.
func (j *judge) alias(words []string) {
	for _, a := range words {
		name, text, ok := strings.Cut(a, "=")
		if !ok {
			continue
		}
		j.InSubshell(func() { j.Script(lex.ScriptText(text)) })
		if j.aliases == nil {
			j.aliases = map[string]string{}
		}
		if len(j.aliases) >= lex.MaxVariables || len(text) > lex.MaxValue {
			j.Exhausted()
			return
		}
		j.aliases[name] = lex.ScriptText(text)
	}
}

// callAlias judges the text of an alias with the words after it. A shell does not
// replace the same alias twice.
func (j *judge) callAlias(name string, rest []string) {
	text, ok := j.aliases[name]
	if !ok || j.Depth >= lex.MaxDepth {
		return
	}
	j.Depth++
	delete(j.aliases, name)
	j.Script(text + lex.Quoted(rest))
	j.aliases[name] = text
	j.Depth--
}
