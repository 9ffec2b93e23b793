package checkpoint_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
)

// An actor changes files at random below one folder of a tree.
type actor struct {
	t    testing.TB
	r    *rand.Rand
	tops []string // the tree, and copies of it in which the same is done
	sub  string   // the folder below
}

// all does something in each copy.
func (a *actor) all(do func(top string) error) {
	a.t.Helper()
	for _, top := range a.tops {
		must(a.t, do(filepath.Join(top, a.sub)))
	}
}

// list returns the paths below the folder, in random order.
func (a *actor) list() []string {
	var out []string
	top := filepath.Join(a.tops[0], a.sub)
	must(a.t, filepath.WalkDir(top, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(top, path); rel != "." {
			out = append(out, rel)
		}
		return err
	}))
	a.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// pick returns a path of a kind, "" if there is none.
func (a *actor) pick(is func(os.FileInfo) bool) string {
	for _, rel := range a.list() {
		info, err := os.Lstat(filepath.Join(a.tops[0], a.sub, rel))
		must(a.t, err)
		if is(info) {
			return rel
		}
	}
	return ""
}

func isDir(i os.FileInfo) bool  { return i.IsDir() }
func isFile(i os.FileInfo) bool { return i.Mode().IsRegular() }
func isAny(os.FileInfo) bool    { return true }

// fresh returns a path where nothing is, in a random folder.
func (a *actor) fresh() string {
	dir := a.pick(isDir)
	for {
		rel := filepath.Join(dir, fmt.Sprintf("n%d", a.r.IntN(1000)))
		if _, err := os.Lstat(filepath.Join(a.tops[0], a.sub, rel)); err != nil {
			return rel
		}
	}
}

func (a *actor) content() []byte {
	switch a.r.IntN(4) {
	case 0:
		return nil
	case 1:
		b := make([]byte, a.r.IntN(5000))
		for i := range b {
			b[i] = byte(a.r.Uint32())
		}
		return b
	}
	return []byte(strings.Repeat(fmt.Sprintf("line %d\n", a.r.IntN(9)), a.r.IntN(50)))
}

// change makes one random change.
func (a *actor) change() {
	a.t.Helper()
	switch a.r.IntN(10) {
	case 0, 1:
		rel, text, mode := a.fresh(), a.content(), os.FileMode(0o600|a.r.IntN(0o200))
		a.all(func(top string) error { return os.WriteFile(filepath.Join(top, rel), text, mode) })
	case 2:
		rel := a.fresh()
		a.all(func(top string) error { return os.Mkdir(filepath.Join(top, rel), 0o755) })
	case 3:
		rel, target := a.fresh(), []string{"n1", "../outside", "/etc/passwd", "gone/away"}[a.r.IntN(4)]
		a.all(func(top string) error { return os.Symlink(target, filepath.Join(top, rel)) })
	case 4, 5:
		if rel, text := a.pick(isFile), a.content(); rel != "" {
			a.all(func(top string) error { return os.WriteFile(filepath.Join(top, rel), text, 0o600) })
		}
	case 6:
		if rel := a.pick(isAny); rel != "" {
			a.all(func(top string) error { return os.RemoveAll(filepath.Join(top, rel)) })
		}
	case 7:
		if rel, to := a.pick(isAny), a.fresh(); rel != "" && !strings.HasPrefix(to, rel+string(filepath.Separator)) {
			a.all(func(top string) error { return os.Rename(filepath.Join(top, rel), filepath.Join(top, to)) })
		}
	case 8:
		if rel, mode := a.pick(isFile), os.FileMode(0o600|a.r.IntN(0o200)); rel != "" {
			a.all(func(top string) error { return os.Chmod(filepath.Join(top, rel), mode) })
		}
	case 9:
		if rel, mode := a.pick(isDir), os.FileMode(0o700|a.r.IntN(0o100)); rel != "" {
			a.all(func(top string) error { return os.Chmod(filepath.Join(top, rel), mode) })
		}
	}
}

// swap turns a file into a folder or a folder into a link, which is hard to undo.
func (a *actor) swap() {
	if rel := a.pick(isAny); rel != "" {
		a.all(func(top string) error {
			path := filepath.Join(top, rel)
			info, err := os.Lstat(path)
			must(a.t, err)
			must(a.t, os.RemoveAll(path))
			if info.IsDir() {
				return os.Symlink("elsewhere", path)
			}
			must(a.t, os.Mkdir(path, 0o750))
			return os.WriteFile(filepath.Join(path, "in"), []byte("in"), 0o640)
		})
	}
}

const shared = 6 // files that both the agent and the user edit

// sharedLines are far from each other, so that edits of one can be told from those of another.
func sharedText() string { return "top\n" + strings.Repeat("between\n", 5) + "bottom\n" }

// TestUndoneChangesGiveTheFirstStateWithTheUsersEdits makes random changes by the agent and by
// the user, with snapshots and restores in between. Restoring the first snapshot must give,
// byte for byte with modes and links, what the folder would be if only the user had worked;
// restoring everything must give the first state; and undoing that must give the state before.
func TestUndoneChangesGiveTheFirstStateWithTheUsersEdits(t *testing.T) {
	t.Parallel()
	rounds := 24
	if testing.Short() {
		rounds = 8
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			undoesRandomChanges(t, newDesk(t, checkpoint.Limits{}), seed)
		})
	}
}

func undoesRandomChanges(t *testing.T, d *desk, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 15))
	only := filepath.Join(filepath.Dir(d.dir), "only-user") // where only the user works
	must(t, os.Mkdir(only, 0o755))
	begin := &actor{t, r, []string{d.dir, only}, ""}
	begin.all(func(top string) error {
		must(t, os.MkdirAll(filepath.Join(top, "both"), 0o755))
		must(t, os.MkdirAll(filepath.Join(top, "mine"), 0o755))
		must(t, os.MkdirAll(filepath.Join(top, "work"), 0o755))
		for i := range shared {
			must(t, os.WriteFile(filepath.Join(top, "both", fmt.Sprint(i)), []byte(sharedText()), 0o644))
		}
		return nil
	})
	for _, sub := range []string{"mine", "work"} {
		for range 30 {
			(&actor{t, r, begin.tops, sub}).change()
		}
	}
	first := d.dump()
	same(t, "the copy", dump(t, only), first)
	s := d.snapshot()
	snapshots := []checkpoint.Snapshot{s}
	user := &actor{t, r, begin.tops, "mine"}
	agent := &actor{t, r, []string{d.dir}, "work"}
	line := func(tops []string, n int, from, to string) {
		for _, top := range tops {
			path := filepath.Join(top, "both", fmt.Sprint(n))
			old, err := os.ReadFile(path)
			must(t, err)
			lines := strings.SplitAfter(string(old), "\n")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, from) })
			lines[i] = fmt.Sprintf("%s %s\n", from, to)
			must(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))
		}
	}
	for range 25 {
		n, text := r.IntN(shared), fmt.Sprint(r.IntN(1000))
		switch r.IntN(8) {
		case 0, 1:
			d.agent(agent.change)
		case 2:
			d.agent(agent.swap)
		case 3:
			d.agent(func() { line([]string{d.dir}, n, "bottom", text) }, fmt.Sprint("both/", n))
		case 4:
			user.change()
		case 5:
			line(begin.tops, n, "top", text)
		case 6:
			snapshots = append(snapshots, d.snapshot())
		case 7:
			d.restore(snapshots[r.IntN(len(snapshots))], checkpoint.RestoreOptions{})
		}
	}
	before := d.dump()
	plan, did := d.restore(s, checkpoint.RestoreOptions{})
	if len(plan.Conflicts) > 0 {
		t.Fatalf("conflicts: %v", plan.Conflicts)
	}
	same(t, "the restored state", d.dump(), dump(t, only))
	d.restore(did.Before, checkpoint.RestoreOptions{})
	same(t, "the restore undone", d.dump(), before)
	d.restore(s, checkpoint.RestoreOptions{All: true})
	same(t, "everything restored", d.dump(), first)
	if again := d.plan(s, checkpoint.RestoreOptions{All: true}); len(again.Steps) > 0 {
		t.Errorf("steps are left: %v", again.Steps)
	}
	_, err := d.store.Prune(t.Context())
	must(t, err)
	d.restore(snapshots[len(snapshots)-1], checkpoint.RestoreOptions{All: true}) // nothing needed was pruned
}
