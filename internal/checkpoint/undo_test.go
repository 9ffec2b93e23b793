package checkpoint_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
)

// edits are the changes in the ledger that an undo is about, newest first.
func (d *desk) edits() []checkpoint.Edit {
	d.t.Helper()
	all, err := d.store.Edits()
	must(d.t, err)
	slices.Reverse(all)
	return all
}

// undo undoes edits and returns the plan.
func (d *desk) undo(edits ...checkpoint.Edit) checkpoint.Plan {
	d.t.Helper()
	var ids []string
	for _, e := range edits {
		ids = append(ids, e.ID)
	}
	p, err := d.store.PlanUndo(d.t.Context(), d.dir, ids)
	must(d.t, err)
	if len(p.Steps) == 0 {
		return p
	}
	r, err := d.store.Restore(d.t.Context(), p, checkpoint.Meta{Reason: "before an undo"})
	must(d.t, err)
	if len(r.Failed) > 0 {
		d.t.Fatalf("steps failed: %v", r.Failed)
	}
	return p
}

// TestAnUndoIsOfOneCall tells a story of single undos: the newest, an older one below a newer
// one, the undo itself, and what cannot be undone.
func TestAnUndoIsOfOneCall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"a": sharedText()})
	d.snapshot()
	d.agent(func() { d.write(map[string]string{"a": strings.Replace(sharedText(), "top", "first", 1)}) }, "a")
	d.agent(func() { d.write(map[string]string{"a": strings.Replace(d.read("a"), "bottom", "second", 1)}) }, "a")
	d.agent(func() { d.write(map[string]string{"dir/new": "new\n"}) }, "dir/new")
	made := d.edits()
	if len(made) != 3 || made[0].By != "test" || !slices.Equal(made[0].Paths, []string{"dir", "dir/new"}) || made[2].Undone {
		t.Fatalf("edits: %+v", made)
	}
	d.undo(made[2]) // the oldest
	if got, want := d.read("a"), strings.Replace(sharedText(), "bottom", "second", 1); got != want {
		t.Errorf("the oldest undone: %q, want %q", got, want)
	}
	d.undo(made[0])
	if _, err := os.Lstat(d.path("dir")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder that the agent made is left")
	}
	now := d.edits()
	if !now[0].IsUndo() || !now[1].IsUndo() || !now[4].Undone || !now[2].Undone || now[3].Undone {
		t.Errorf("after two undos: %+v", now)
	}
	if p := d.undo(made[0]); len(p.Steps) > 0 {
		t.Errorf("undone twice: %v", p.Steps)
	}
	d.undo(now[0]) // redo
	if got := d.read("dir/new"); got != "new\n" {
		t.Errorf("redone: %q", got)
	}
	if now = d.edits(); now[3].Undone || !now[1].Undone {
		t.Errorf("after the redo: %+v", now)
	}
	d.write(map[string]string{"dir/new": "mine\n", "dir/other": "mine\n"})
	if p := d.undo(made[0]); len(p.Steps) > 0 || len(p.Conflicts) != 1 || p.Conflicts[0].Path != "dir/new" || d.read("dir/new") != "mine\n" {
		t.Errorf("the user's file: %+v", p)
	}
	if _, err := d.store.PlanUndo(t.Context(), d.dir, []string{"f1234567-1"}); !errors.Is(err, checkpoint.ErrUnknown) {
		t.Errorf("an unknown edit: %v", err)
	}
}

// TestUndoneCallsGiveTheStateWithoutThem undoes random calls of the agent, one by one or many
// at once, with edits of the user in between. The result is, byte for byte, what the folder
// would be if only the user had worked; undoing the undos gives the state before.
func TestUndoneCallsGiveTheStateWithoutThem(t *testing.T) {
	t.Parallel()
	rounds := 16
	if testing.Short() {
		rounds = 6
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 8))
			d := newDesk(t, checkpoint.Limits{})
			only := filepath.Join(filepath.Dir(d.dir), "only-user")
			must(t, os.Mkdir(only, 0o755))
			begin := &actor{t, r, []string{d.dir, only}, ""}
			begin.all(func(top string) error {
				must(t, os.MkdirAll(filepath.Join(top, "mine"), 0o755))
				must(t, os.MkdirAll(filepath.Join(top, "work"), 0o755))
				return os.WriteFile(filepath.Join(top, "both"), []byte(sharedText()), 0o644)
			})
			d.snapshot()
			user := &actor{t, r, begin.tops, "mine"}
			agent := &actor{t, r, []string{d.dir}, "work"}
			for range 20 {
				switch r.IntN(6) {
				case 0, 1:
					d.agent(agent.change)
				case 2:
					d.agent(agent.swap)
				case 3:
					user.change()
					line := fmt.Sprintf("top %d\n", r.IntN(99))
					begin.all(func(top string) error {
						path := filepath.Join(top, "both")
						old, err := os.ReadFile(path)
						must(t, err)
						_, rest, _ := strings.Cut(string(old), "\n")
						return os.WriteFile(path, []byte(line+rest), 0o644)
					})
				case 4:
					d.agent(func() {
						d.write(map[string]string{"both": d.read("both") + fmt.Sprintln(r.IntN(99))})
					}, "both")
				case 5:
					if e := d.edits(); len(e) > 0 && !e[0].Undone && !e[0].IsUndo() {
						d.undo(e[0])
					}
				}
			}
			before := d.dump()
			var live []checkpoint.Edit
			for _, e := range d.edits() {
				if !e.Undone && !e.IsUndo() {
					live = append(live, e)
				}
			}
			n := len(d.edits())
			if r.IntN(2) == 0 {
				if p := d.undo(live...); len(p.Conflicts) > 0 {
					t.Fatalf("conflicts: %v", p.Conflicts)
				}
			} else {
				for _, e := range live {
					d.undo(e)
				}
			}
			same(t, "undone", d.dump(), dump(t, only))
			undos := d.edits()
			for _, e := range undos[:len(undos)-n] {
				d.undo(e)
			}
			same(t, "the undo undone", d.dump(), before)
		})
	}
}
