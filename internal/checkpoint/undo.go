package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// byUndo is what the ledger says of a change that undid others.
const byUndo = "undo"

// Edit is a change in the ledger: what one call of the agent, a restore or an undo made of
// files.
type Edit struct {
	ID     string    `json:"id"` // unique in the store
	Folder string    `json:"folder"`
	Time   time.Time `json:"time"`
	By     string    `json:"by"` // the tool, "restore" with the id of a snapshot, or "undo"
	Paths  []string  `json:"paths"`
	Undone bool      `json:"undone,omitempty"` // all of it
}

// IsUndo reports whether the edit undid others.
func (e Edit) IsUndo() bool { return e.By == byUndo }

// Edits returns the changes of all folders, oldest first for each folder. It waits for no
// other process. What no snapshot needs any more is forgotten; see Prune.
func (s *Store) Edits() ([]Edit, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	var out []Edit
	var errs []error
	for _, id := range ids {
		at := filepath.Join(s.cfg.Folder, id)
		l, err := loadList(filepath.Join(at, listName))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		moves, err := movesIn(filepath.Join(at, ledgerName))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, e := range editsOf(l.Folder, moves) {
			out = append(out, e.Edit)
		}
	}
	return out, errors.Join(errs...)
}

// edit is an Edit with its moves.
type edit struct {
	Edit
	moves []move
}

// editsOf groups moves.
func editsOf(folder string, moves []move) []edit {
	undone := undoneIn(moves)
	var out []edit
	for _, m := range moves {
		last := len(out) - 1
		if last < 0 || !together(out[last].moves[0], m) {
			out = append(out, edit{Edit: Edit{ID: fmt.Sprintf("f%.7s-%d", idOf(folder), cmp.Or(m.Group, m.N)), Folder: folder, Time: m.Time, By: m.By, Undone: true}})
			last++
		}
		e := &out[last]
		e.moves, e.Paths = append(e.moves, m), append(e.Paths, m.Path)
		e.Undone = e.Undone && undone[m.N]
	}
	return out
}

// together reports whether two moves are of the same call.
func together(a, b move) bool {
	return a.Group == b.Group && a.By == b.By && a.Time.Equal(b.Time)
}

// undoneIn returns the numbers of the moves that are undone. An undo that is undone itself
// does not count.
func undoneIn(moves []move) map[int64]bool {
	undone := map[int64]bool{}
	for _, m := range slices.Backward(moves) {
		if undone[m.N] {
			continue
		}
		for _, n := range m.Of {
			undone[n] = true
		}
	}
	return undone
}

// PlanUndo works out how edits of a folder are undone, whatever happened since. What the user
// changed since is kept, and so are edits that are not named: see Plan. What of them is undone
// already is skipped. ErrUnknown means that the folder has no such edit.
func (s *Store) PlanUndo(ctx context.Context, folder string, ids []string) (Plan, error) {
	w, err := s.open(ctx, folder, "an undo", forTree)
	if err != nil {
		return Plan{}, err
	}
	defer w.close()
	moves, err := w.moves(0)
	if err != nil {
		return Plan{}, err
	}
	u := undoing{undone: undoneIn(moves), chosen: map[int64]bool{}}
	edits := editsOf(w.dir, moves)
	for _, id := range ids {
		i := slices.IndexFunc(edits, func(e edit) bool { return e.ID == id })
		if i < 0 {
			return Plan{}, fmt.Errorf("%w: %q", ErrUnknown, id)
		}
		for _, m := range edits[i].moves {
			u.chosen[m.N] = !u.undone[m.N]
		}
	}
	u.planner = planner{w: w, want: map[string]State{}, now: map[string]State{}, moves: map[string][]move{}, steps: map[string]Step{}}
	var include []string
	for _, m := range moves {
		u.moves[m.Path] = append(u.moves[m.Path], m)
		include = append(include, m.Path)
	}
	top, err := w.scan(ctx, include)
	if err != nil {
		return Plan{}, err
	}
	top.states("", u.now)
	plan := Plan{Folder: w.dir}
	if err := u.run(&plan); err != nil {
		return Plan{}, err
	}
	return plan, errors.Join(w.describe(ctx, &plan), w.objects.Commit(), w.ground.publish(ctx))
}

// undoing decides what becomes of each path if some moves are undone.
type undoing struct {
	planner
	undone, chosen map[int64]bool // moves
}

func (u *undoing) run(plan *Plan) error {
	for _, rel := range slices.Sorted(maps.Keys(u.moves)) {
		if !slices.ContainsFunc(u.moves[rel], func(m move) bool { return u.chosen[m.N] }) {
			continue
		}
		st, conflict, err := u.step(rel)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", rel, err)
		case conflict != "":
			plan.Conflicts = append(plan.Conflicts, Kept{rel, conflict})
		case st.From != st.To:
			u.steps[rel] = st
		}
	}
	u.fit(plan)
	for _, rel := range slices.Sorted(maps.Keys(u.steps)) {
		plan.Steps = append(plan.Steps, u.steps[rel])
	}
	sortBy(plan.Yours, func(k Kept) string { return k.Path })
	sortBy(plan.Conflicts, func(k Kept) string { return k.Path })
	return nil
}

// step undoes the chosen moves of a path, newest first, on what it is now.
func (u *undoing) step(rel string) (st Step, conflict string, err error) {
	now := stateOf(u.now, rel)
	st = Step{Path: rel, From: now, To: now}
	if now.Kind == LeftOut {
		return st, "it cannot be read now (" + now.Why.String() + ")", nil
	}
	again := false // the agent changed it after what is undone
	for _, m := range slices.Backward(u.moves[rel]) {
		switch {
		case !u.chosen[m.N]:
			again = again || !u.undone[m.N] && len(m.Of) == 0
			continue
		case st.To == m.After || st.To == m.Before:
			st.To = m.Before
		default:
			st.Merged = true
			if st.To, conflict, err = u.w.without(m, st.To); err != nil || conflict != "" {
				if again {
					conflict = strings.Replace(conflict, "you and the agent changed it", "it changed again since", 1)
				}
				return st, conflict, err
			}
		}
		st.Of = append(st.Of, m.N)
	}
	if st.To.Kind == LeftOut {
		return st, "what it was is not known (" + st.To.Why.String() + ")", nil
	}
	return st, "", nil
}
