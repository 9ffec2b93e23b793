package shell

import (
	"maps"
	"slices"
	"strings"
)

// state is what a command finds and may change. A subshell works on a copy.
type state struct {
	dirs   []string            // where it may run; "" is unknown
	vars   map[string]variable // shared with copies; see set
	params []string            // positional parameters
	open   string              // the mark of positional parameters that are unknown
	lost   bool                // there are more variables than are remembered
	refs   bool                // a variable is another name of one, so that values may change unseen
	plural bool                // something has alternatives
}

// variable is what is known about a shell variable.
type variable struct {
	may   []string // the values that it may have, one for each way here
	list  []string // the elements of an array
	array bool
}

func exactly(text string) variable { return variable{may: []string{bounded(text)}} }

// bounded returns a value, or unknown if it is too long.
func bounded(text string) string {
	if len(text) > maxValue {
		return unknown
	}
	return text
}

// elements is an array, or an unknown value if it is too long.
func elements(list []string) variable {
	size := 0
	for _, e := range list {
		size += len(e)
	}
	if size > maxValue || len(list) > maxWords {
		return exactly(unknown)
	}
	return variable{list: list, array: true}
}

func (v variable) equal(w variable) bool {
	return v.array == w.array && slices.Equal(v.may, w.may) && slices.Equal(v.list, w.list)
}

// or is what is known about a variable that is one of two.
func (v variable) or(w variable) variable {
	if v.equal(w) {
		return v
	}
	if v.array || w.array {
		return exactly(unknown)
	}
	may := union(v.may, w.may)
	if len(may) > maxAlternatives {
		return exactly(unknown)
	}
	return variable{may: may}
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// set records a variable.
func (j *judge) set(name string, v variable) {
	if _, known := j.vars[name]; !known && len(j.vars) >= maxVariables {
		j.forget()
		j.lost = true
		j.changes++
		return
	}
	j.own()
	j.vars[name] = v
	j.changes++
}

// own makes the variables of this state its own, before one of them changes.
func (j *judge) own() {
	if j.owned && j.vars != nil {
		return
	}
	j.spend(32 * len(j.vars))
	own := make(map[string]variable, len(j.vars)+1)
	maps.Copy(own, j.vars)
	j.vars, j.owned = own, true
}

// save returns the state, which later changes do not touch.
func (j *judge) save() state {
	j.owned = false
	return j.state
}

func (j *judge) restore(s state) {
	j.state, j.owned = s, false
	j.dir = s.dirs[0]
}

// enter changes to a folder; "" is an unknown one.
func (j *judge) enter(dir string) {
	j.dirs, j.dir = []string{dir}, dir
	j.changes++
}

// forget notes that any variable may have changed.
func (j *judge) forget() {
	for name, v := range maps.Clone(j.vars) {
		if v.array {
			v = exactly(unknown)
		} else if !slices.Contains(v.may, filled) && len(v.may) < maxAlternatives {
			v.may = append(slices.Clone(v.may), filled)
		}
		j.set(name, v)
	}
	j.plural = true
	j.changes++
}

// branches judges ways that the line may take from here. What differs after them
// has alternatives from then on. A nil func is the way past all others.
func (j *judge) branches(ways ...func()) {
	before, changes := j.save(), j.changes
	var after state
	for i, way := range ways {
		j.restore(before)
		if way != nil {
			way()
		}
		if i == 0 {
			after = j.save()
			continue
		}
		if j.changes != changes {
			after = merged(after, j.save())
		}
	}
	j.restore(after)
}

// merged is the state after two ways.
func merged(a, b state) state {
	out := state{dirs: union(a.dirs, b.dirs), vars: map[string]variable{}, params: a.params, open: a.open, lost: a.lost || b.lost, refs: a.refs || b.refs, plural: true}
	if len(out.dirs) > maxAlternatives {
		out.dirs = []string{""}
	}
	if a.open != b.open || !slices.Equal(a.params, b.params) {
		out.params, out.open = nil, unknown
	}
	inherited := exactly(filled) // from the environment
	for name, v := range a.vars {
		w, ok := b.vars[name]
		if !ok {
			w = inherited
		}
		out.vars[name] = v.or(w)
	}
	for name, w := range b.vars {
		if _, ok := a.vars[name]; !ok {
			out.vars[name] = w.or(inherited)
		}
	}
	return out
}

// alternatives judges a command once for each value that its variables and its
// folder may have.
func (j *judge) alternatives(f func()) {
	if !j.plural {
		f()
		return
	}
	outer, most := j.choice, j.most
	before := j.save()
	j.choice, j.most = 0, len(before.dirs)
	j.enterAny(before.dirs)
	f()
	if j.most > 1 {
		after := j.save()
		for j.choice = 1; j.choice < min(j.most, maxAlternatives) && j.steps <= maxSteps; j.choice++ {
			j.restore(before)
			j.enterAny(before.dirs)
			f()
			after = merged(after, j.save())
		}
		j.restore(after)
	}
	j.choice, j.most = outer, most
}

// enterAny enters the chosen one of the folders.
func (j *judge) enterAny(dirs []string) {
	j.dir = dirs[j.choice%len(dirs)]
	if len(dirs) > 1 {
		j.dirs = []string{j.dir}
	}
}

// choose returns the chosen one of the values.
func (j *judge) choose(may []string) string {
	j.most = max(j.most, len(may))
	return may[j.choice%len(may)]
}

// inSubshell judges what runs in a subshell: its changes end with it.
func (j *judge) inSubshell(f func()) {
	before := j.save()
	f()
	j.restore(before)
}

// withParameters judges text with other positional parameters.
func (j *judge) withParameters(params []string, f func()) {
	saved, open := j.params, j.open
	j.params, j.open = params, ""
	if len(params) > maxWords || len(strings.Join(params, "")) > maxText {
		j.params, j.open = nil, unknown
	}
	f()
	j.params, j.open = saved, open
}

// unset forgets one variable, so that it has the value of the environment.
func (j *judge) unset(name string) {
	if _, ok := j.vars[name]; !ok {
		return
	}
	j.own()
	delete(j.vars, name)
	j.changes++
}
