package track

import (
	"maps"
	"slices"
	"strings"

	"hermes/internal/policy/shell/lex"
)

// State is what a command finds and may change. A subshell works on a copy.
type State struct {
	dirs   []string            // where it may run; "" is unknown
	Vars   map[string]Variable // shared with copies; see set
	Params []string            // positional parameters
	Open   string              // the mark of positional parameters that are unknown
	lost   bool                // there are more variables than are remembered
	Refs   bool                // a variable is another name of one, so that values may change unseen
	plural bool                // something has alternatives
}

// Variable is what is known about a shell variable.
type Variable struct {
	May   []string // the values that it may have, one for each way here
	List  []string // the elements of an array
	Array bool
}

// Exactly is a variable with one value.
func Exactly(text string) Variable { return Variable{May: []string{bounded(text)}} }

// bounded returns a value, or unknown if it is too long.
func bounded(text string) string {
	if len(text) > lex.MaxValue {
		return lex.Unknown
	}
	return text
}

// Elements is an array, or an unknown value if it is too long.
func Elements(list []string) Variable {
	size := 0
	for _, e := range list {
		size += len(e)
	}
	if size > lex.MaxValue || len(list) > lex.MaxWords {
		return Exactly(lex.Unknown)
	}
	return Variable{List: list, Array: true}
}

// Equal reports whether the same is known about two variables.
func (v Variable) Equal(w Variable) bool {
	return v.Array == w.Array && slices.Equal(v.May, w.May) && slices.Equal(v.List, w.List)
}

// or is what is known about a variable that is one of two.
func (v Variable) or(w Variable) Variable {
	if v.Equal(w) {
		return v
	}
	if v.Array || w.Array {
		return Exactly(lex.Unknown)
	}
	may := Union(v.May, w.May)
	if len(may) > lex.MaxAlternatives {
		return Exactly(lex.Unknown)
	}
	return Variable{May: may}
}

// Union returns the elements of both lists, each once.
func Union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Set records a variable.
func (l *Line) Set(name string, v Variable) {
	if _, known := l.Vars[name]; !known && len(l.Vars) >= lex.MaxVariables {
		l.Forget()
		l.lost = true
		l.Changes++
		return
	}
	l.own()
	l.Vars[name] = v
	l.Changes++
}

// own makes the variables of this state its own, before one of them changes.
func (l *Line) own() {
	if l.owned && l.Vars != nil {
		return
	}
	l.Spend(32 * len(l.Vars))
	own := make(map[string]Variable, len(l.Vars)+1)
	maps.Copy(own, l.Vars)
	l.Vars, l.owned = own, true
}

// Save returns the state, which later changes do not touch.
func (l *Line) Save() State {
	l.owned = false
	return l.State
}

// Restore returns to a state that was saved.
func (l *Line) Restore(s State) {
	l.State, l.owned = s, false
	l.Dir = s.dirs[0]
}

// Enter changes to a folder; "" is an unknown one.
func (l *Line) Enter(dir string) {
	l.dirs, l.Dir = []string{dir}, dir
	l.Changes++
}

// Forget notes that any variable may have changed.
func (l *Line) Forget() {
	for name, v := range maps.Clone(l.Vars) {
		if v.Array {
			v = Exactly(lex.Unknown)
		} else if !slices.Contains(v.May, lex.Filled) && len(v.May) < lex.MaxAlternatives {
			v.May = append(slices.Clone(v.May), lex.Filled)
		}
		l.Set(name, v)
	}
	l.plural = true
	l.Changes++
}

// Branches judges ways that the line may take from here. What differs after them
// has alternatives from then on. A nil func is the way past all others.
func (l *Line) Branches(ways ...func()) {
	before, changes := l.Save(), l.Changes
	var after State
	for i, way := range ways {
		l.Restore(before)
		if way != nil {
			way()
		}
		if i == 0 {
			after = l.Save()
			continue
		}
		if l.Changes != changes {
			after = Merged(after, l.Save())
		}
	}
	l.Restore(after)
}

// Merged is the state after two ways.
func Merged(a, b State) State {
	out := State{dirs: Union(a.dirs, b.dirs), Vars: map[string]Variable{}, Params: a.Params, Open: a.Open, lost: a.lost || b.lost, Refs: a.Refs || b.Refs, plural: true}
	if len(out.dirs) > lex.MaxAlternatives {
		out.dirs = []string{""}
	}
	if a.Open != b.Open || !slices.Equal(a.Params, b.Params) {
		out.Params, out.Open = nil, lex.Unknown
	}
	inherited := Exactly(lex.Filled) // from the environment
	for name, v := range a.Vars {
		w, ok := b.Vars[name]
		if !ok {
			w = inherited
		}
		out.Vars[name] = v.or(w)
	}
	for name, w := range b.Vars {
		if _, ok := a.Vars[name]; !ok {
			out.Vars[name] = w.or(inherited)
		}
	}
	return out
}

// Alternatives judges a command once for each value that its variables and its
// folder may have.
func (l *Line) Alternatives(f func()) {
	if !l.plural {
		f()
		return
	}
	outer, most := l.choice, l.most
	before := l.Save()
	l.choice, l.most = 0, len(before.dirs)
	l.enterAny(before.dirs)
	f()
	if l.most > 1 {
		after := l.Save()
		for l.choice = 1; l.choice < min(l.most, lex.MaxAlternatives) && l.Steps <= lex.MaxSteps; l.choice++ {
			l.Restore(before)
			l.enterAny(before.dirs)
			f()
			after = Merged(after, l.Save())
		}
		l.Restore(after)
	}
	l.choice, l.most = outer, most
}

// enterAny enters the chosen one of the folders.
func (l *Line) enterAny(dirs []string) {
	l.Dir = dirs[l.choice%len(dirs)]
	if len(dirs) > 1 {
		l.dirs = []string{l.Dir}
	}
}

// Choose returns the chosen one of the values.
func (l *Line) Choose(may []string) string {
	l.most = max(l.most, len(may))
	return may[l.choice%len(may)]
}

// InSubshell judges what runs in a subshell: its changes end with it.
func (l *Line) InSubshell(f func()) {
	before := l.Save()
	f()
	l.Restore(before)
}

// WithParameters judges text with other positional parameters.
func (l *Line) WithParameters(params []string, f func()) {
	saved, open := l.Params, l.Open
	l.Params, l.Open = params, ""
	if len(params) > lex.MaxWords || len(strings.Join(params, "")) > lex.MaxText {
		l.Params, l.Open = nil, lex.Unknown
	}
	f()
	l.Params, l.Open = saved, open
}

// Unset forgets one variable, so that it has the value of the environment.
func (l *Line) Unset(name string) {
	if _, ok := l.Vars[name]; !ok {
		return
	}
	l.own()
	delete(l.Vars, name)
	l.Changes++
}

// Probe judges something that may be a command. Of what it finds, that a program
// is unknown or a text unreadable does not count, nor does SQL, which is judged in
// the whole argument. Nothing is refused: whether it runs is not known.
func (l *Line) Probe(f func()) {
	if l.Depth >= lex.MaxDepth {
		l.Exhausted()
		return
	}
	outer := l.Findings
	probing := l.Probing
	l.Findings, l.Probing = nil, true
	l.Depth++
	l.InSubshell(f)
	l.Depth--
	l.Probing = probing
	found := l.Findings
	l.Findings = outer
	for _, f := range found {
		switch {
		case f.Key == "dynamic-command" || f.Key == "unreadable" || f.Key == "destructive-sql":
		case f.Level == Refuse:
			l.Ask("hidden-command", "may run a command that "+f.Reason)
		default:
			l.Find(f)
		}
	}
}

// Never judges something of which only what is never allowed counts.
func (l *Line) Never(f func()) {
	if l.Depth >= lex.MaxDepth {
		return
	}
	found := l.Findings
	l.Findings = nil
	l.Depth++
	l.InSubshell(f)
	l.Depth--
	inner := l.Findings
	l.Findings = found
	for _, f := range inner {
		if f.Level == Refuse || f.Key == "too-deep" {
			l.Find(f)
		}
	}
}
