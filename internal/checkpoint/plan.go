package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/checkpoint/object"
	"hermes/internal/patch"
)

// RestoreOptions say what a restore covers. The zero value restores what the agent changed.
type RestoreOptions struct {
	// Paths bounds it to files and folders with these paths, in the folder and with slashes.
	Paths []string
	// All restores everything: what the user changed since is overwritten, too. The snapshot
	// that each restore makes first has it.
	All bool
}

// A Step is what a restore does to one path.
type Step struct {
	Path string `json:"path"`
	From State  `json:"from"` // what is there now
	To   State  `json:"to"`
	// Merged means that To has changes of the user that the snapshot has not.
	Merged bool   `json:"merged,omitempty"`
	Text   string `json:"text,omitempty"` // a diff, or a line that says what happens
	// Of are the numbers in the ledger of the changes that an undo undoes at the path.
	Of []int64 `json:"of,omitempty"`
}

// Kept is a path that a restore does not change, or not as the snapshot has it.
type Kept struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Plan is what a restore will do. It can be shown, and is applied as it is or not at all.
type Plan struct {
	Folder   string   `json:"folder"`
	Snapshot Snapshot `json:"snapshot"` // without an id if single changes are undone
	Whole    bool     `json:"whole"`    // not bounded to some paths
	Steps    []Step   `json:"steps"`
	// Yours are changes of the user that stay.
	Yours []Kept `json:"yours,omitempty"`
	// Conflicts are paths that both the agent and the user changed, in ways that exclude
	// each other. They stay as the user has them.
	Conflicts []Kept `json:"conflicts,omitempty"`
}

// Plan works out how a folder becomes what it was at a snapshot. It changes nothing in the
// folder.
func (s *Store) Plan(ctx context.Context, dir, ref string, o RestoreOptions) (Plan, error) {
	w, err := s.open(ctx, dir, "a restore", forTree)
	if err != nil {
		return Plan{}, err
	}
	defer w.close()
	snap, err := w.list.find(ref)
	if err != nil {
		return Plan{}, err
	}
	want, err := statesOf(w.objects, snap.Tree)
	if err != nil {
		return Plan{}, err
	}
	moves, err := w.moves(snap.Moves)
	if err != nil {
		return Plan{}, err
	}
	p := planner{w: w, want: want, moves: map[string][]move{}, all: o.All, paths: o.Paths}
	include := kept(want)
	for _, m := range moves {
		p.moves[m.Path] = append(p.moves[m.Path], m)
		include = append(include, m.Path)
	}
	top, err := w.scan(ctx, include)
	if err != nil {
		return Plan{}, err
	}
	p.now = map[string]State{}
	top.states("", p.now)
	plan := Plan{Folder: w.dir, Snapshot: snap, Whole: len(o.Paths) == 0}
	if err := p.run(&plan); err != nil {
		return Plan{}, err
	}
	if o.All && plan.Whole && top.state.Mode != snap.Mode {
		plan.Steps = append(plan.Steps, Step{Path: ".", From: top.state, To: State{Kind: Folder, Mode: snap.Mode}})
	}
	return plan, errors.Join(w.describe(ctx, &plan), w.objects.Commit(), w.ground.publish(ctx))
}

// describe adds the text of each step. A step whose content is damaged becomes a conflict.
func (w *workspace) describe(ctx context.Context, plan *Plan) error {
	var states []State
	for _, st := range plan.Steps {
		states = append(states, st.From, st.To)
	}
	if err := w.ground.fetch(ctx, states); err != nil {
		return err
	}
	var good []Step
	for _, st := range plan.Steps {
		var err error
		st.Text, err = w.show(st.Path, st.From, st.To)
		switch {
		case errors.Is(err, object.ErrDamaged) || errors.Is(err, object.ErrMissing):
			plan.Conflicts = append(plan.Conflicts, Kept{st.Path, "its copy in the checkpoint cannot be read: " + err.Error()})
		case err != nil:
			return err
		default:
			good = append(good, st)
		}
	}
	plan.Steps = good
	return nil
}

// A planner decides what becomes of each path.
type planner struct {
	w         *workspace
	want, now map[string]State
	moves     map[string][]move // by path, after the snapshot
	all       bool
	paths     []string
	steps     map[string]Step
}

func (p *planner) run(plan *Plan) error {
	p.steps = map[string]Step{}
	for _, rel := range pathsOf(p.want, p.now) {
		s, n := stateOf(p.want, rel), stateOf(p.now, rel)
		if !chosen(p.paths, rel) || s == n {
			continue
		}
		to, conflict, err := p.decide(rel, s, n)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", rel, err)
		case conflict != "":
			plan.Conflicts = append(plan.Conflicts, Kept{rel, conflict})
		case to == n:
			if differs(s, n) && s.Kind != LeftOut {
				plan.Yours = append(plan.Yours, Kept{rel, "changed by you"})
			}
		default:
			p.steps[rel] = Step{Path: rel, From: n, To: to, Merged: to != s && s.Kind != LeftOut}
		}
	}
	p.fit(plan)
	for _, rel := range slices.Sorted(maps.Keys(p.steps)) {
		plan.Steps = append(plan.Steps, p.steps[rel])
	}
	sortBy(plan.Yours, func(k Kept) string { return k.Path })
	sortBy(plan.Conflicts, func(k Kept) string { return k.Path })
	return nil
}

// decide returns what becomes of a path that is n now and was s at the snapshot. It undoes
// the agent's moves, newest first, on what the user made of the path.
func (p *planner) decide(rel string, s, n State) (to State, conflict string, err error) {
	moves := p.moves[rel]
	switch {
	case n.Kind == LeftOut && (len(moves) > 0 || p.all && s.Kind != LeftOut && s.Kind != None):
		return n, "it cannot be read now (" + n.Why.String() + ")", nil
	case p.all && s.Kind != LeftOut && n.Kind != LeftOut:
		return s, "", nil
	case p.all && len(moves) > 0 && moves[0].Before.Kind != LeftOut:
		return moves[0].Before, "", nil
	}
	at := n
	for _, m := range slices.Backward(moves) {
		if at == m.After || at == m.Before { // two calls that ran at once may have noted the same change
			at = m.Before
			continue
		}
		if at, conflict, err = p.w.without(m, at); err != nil || conflict != "" {
			return n, conflict, err
		}
	}
	if at.Kind == LeftOut {
		return n, "what it was is not known (" + at.Why.String() + ")", nil
	}
	return at, "", nil
}

// mergedSize bounds the files that are merged, in bytes.
const mergedSize = 4 << 20

// without undoes one move on a state that the user made of its result.
func (w *workspace) without(m move, now State) (to State, conflict string, err error) {
	const both = "you and the agent changed it"
	if m.Before.Kind != m.After.Kind || now.Kind != m.After.Kind {
		return now, both, nil
	}
	to = now
	if now.Mode == m.After.Mode {
		to.Mode = m.Before.Mode
	}
	switch {
	case now.Kind == Folder || m.Before.Hash == m.After.Hash && m.Before.Target == m.After.Target:
		return to, "", nil
	case now.Hash == m.After.Hash && now.Target == m.After.Target:
		to.Hash, to.Size, to.Target = m.Before.Hash, m.Before.Size, m.Before.Target
		return to, "", nil
	case now.Kind != File || max(now.Size, m.Before.Size, m.After.Size) > mergedSize:
		return now, both, nil
	}
	var texts [3]string
	for i, s := range [...]State{m.After, now, m.Before} {
		data, err := w.objects.Read(s.Hash)
		if err != nil {
			return now, "what the agent changed in it is not known any more: " + err.Error(), nil
		}
		if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
			return now, both + "; it is not text", nil
		}
		texts[i] = string(data)
	}
	text, ok := patch.Merge(texts[0], texts[1], texts[2])
	if !ok {
		return now, both + " in the same lines", nil
	}
	to.Size = int64(len(text))
	to.Hash, err = w.objects.Add([]byte(text))
	return to, "", err
}

// fit drops steps that do not fit together with what stays, and adds the folders that steps
// need.
func (p *planner) fit(plan *Plan) {
	for {
		final := maps.Clone(p.now)
		for rel, st := range p.steps {
			final[rel] = st.To
		}
		below := map[string]int{} // what stays or comes in each folder
		for rel, s := range final {
			if s.Kind != None {
				below[path.Dir(rel)]++
			}
		}
		changed := false
		for _, rel := range slices.Sorted(maps.Keys(p.steps)) {
			st := p.steps[rel]
			switch {
			case st.To.Kind != Folder && st.From.Kind == Folder && below[rel] > 0:
				delete(p.steps, rel)
				changed = true
				if st.To.Kind == None {
					plan.Yours = append(plan.Yours, Kept{rel, "the folder has files that stay"})
					continue
				}
				plan.Conflicts = append(plan.Conflicts, Kept{rel, "a folder with files that stay is in its place"})
			case st.To.Kind != None && !p.parent(rel, final):
				delete(p.steps, rel)
				changed = true
				plan.Conflicts = append(plan.Conflicts, Kept{rel, "something of yours is in place of its folder"})
			}
		}
		for rel, s := range final { // parent added folders
			if _, ok := p.steps[rel]; !ok && s != p.now[rel] && s.Kind == Folder && p.now[rel].Kind == None && !changed {
				p.steps[rel] = Step{Path: rel, To: s}
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// parent makes sure that the folder of a path will be there, and reports whether it can be.
func (p *planner) parent(rel string, final map[string]State) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		switch final[dir].Kind {
		case Folder:
		case None:
			final[dir] = State{Kind: Folder, Mode: 0o755}
			if s := p.want[dir]; s.Kind == Folder {
				final[dir] = s
			}
		default:
			return false
		}
	}
	return true
}

// needs returns the contents that the steps of a plan need.
func (p *Plan) needs() []object.Hash {
	var out []object.Hash
	for _, st := range p.Steps {
		if st.To.Kind == File {
			out = append(out, st.To.Hash)
		}
	}
	return out
}
