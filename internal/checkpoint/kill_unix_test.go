//go:build unix

package checkpoint_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/checkpoint"
)

// roleVar makes the test binary a program that works on a store until it is killed.
const roleVar = "CHECKPOINT_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := work(role, os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work makes snapshots, or restores one, and says when it begins and ends.
func work(role, at, dir, ref string) error {
	ctx := context.Background()
	s := checkpoint.New(checkpoint.Config{Folder: at, Limits: checkpoint.Limits{Snapshots: 4}})
	switch role {
	case "snapshot":
		fmt.Println("begin")
		for i := 0; ; i++ {
			if err := os.WriteFile(filepath.Join(dir, "d1", "changing"), fmt.Append(nil, i), 0o644); err != nil {
				return err
			}
			if _, _, err := s.Snapshot(ctx, dir, checkpoint.Meta{Reason: "loop"}, checkpoint.SnapshotOptions{}); err != nil {
				return err
			}
			if i%3 == 0 {
				if _, err := s.Prune(ctx); err != nil {
					return err
				}
			}
		}
	case "restore", "undo":
		p, err := s.PlanUndo(ctx, dir, []string{ref})
		if role == "restore" {
			p, err = s.Plan(ctx, dir, ref, checkpoint.RestoreOptions{})
		}
		if err != nil {
			return err
		}
		fmt.Println("begin")
		r, err := s.Restore(ctx, p, checkpoint.Meta{})
		if err == nil && len(r.Failed) > 0 {
			err = fmt.Errorf("failed: %v", r.Failed)
		}
		fmt.Println("end")
		return err
	}
	return fmt.Errorf("unknown role %s", role)
}

// killed runs a role and kills it some time after it began. It reports whether it had ended.
func (d *desk) killed(role, ref string, after time.Duration) (ended bool) {
	d.t.Helper()
	exe, err := os.Executable()
	must(d.t, err)
	cmd := exec.Command(exe, d.at, d.dir, ref)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	out, err := cmd.StdoutPipe()
	must(d.t, err)
	var errs strings.Builder
	cmd.Stderr = &errs
	must(d.t, cmd.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begin" {
		_ = cmd.Wait()
		d.t.Fatalf("it did not begin: %q, %s", lines.Text(), errs.String())
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	ended = lines.Scan()
	if err := cmd.Wait(); err != nil && errs.Len() > 0 {
		d.t.Fatalf("it failed: %v, %s", err, errs.String())
	}
	return ended
}

func (d *desk) fill() {
	for i := range 120 {
		d.write(map[string]string{fmt.Sprintf("d%d/f%d", i%6, i): strings.Repeat(fmt.Sprintln("content", i), i)})
	}
	must(d.t, os.MkdirAll(d.path("empty"), 0o750))
	must(d.t, os.Symlink("d1", d.path("link")))
}

// noLeftovers fails if something unfinished is in a folder.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, "restore.json") {
			t.Errorf("left behind: %s", path)
		}
		return err
	}))
}

// TestAKilledSnapshotIsWholeOrAbsent kills a process that makes and prunes snapshots, at random
// moments. Every snapshot that is listed afterwards can be restored.
func TestAKilledSnapshotIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	d := newDesk(t, checkpoint.Limits{})
	d.fill()
	d.snapshot()
	for range 7 {
		d.killed("snapshot", "", time.Duration(r.IntN(150))*time.Millisecond)
		w, err := d.store.List(d.dir)
		must(t, err)
		now := d.dump()
		for _, s := range w.Snapshots {
			if _, err := d.store.Diff(t.Context(), d.dir, s.ID, "", nil); err != nil {
				t.Fatalf("snapshot %d: %v", s.Number, err)
			}
		}
		must(t, os.RemoveAll(d.path("d2")))
		last := d.snapshot()
		i := slices.IndexFunc(w.Snapshots, func(s checkpoint.Snapshot) bool { return s.ID == w.Head })
		head := w.Snapshots[i]
		d.restore(head, checkpoint.RestoreOptions{All: true})
		d.restore(last, checkpoint.RestoreOptions{All: true})
		if _, err := os.Stat(d.path("d2")); err == nil {
			t.Fatal("a removed folder is there")
		}
		d.restore(head, checkpoint.RestoreOptions{All: true})
		delete(now, "d1/changing") // it changes between two snapshots
		got := d.dump()
		delete(got, "d1/changing")
		same(t, "after the kill", got, now)
	}
	noLeftovers(t, d.dir)
}

// TestAKilledRestoreIsFinishedOrNotBegun kills a process that restores, at random moments. At
// the next use the folder is as it was before, or as it was at the snapshot, byte for byte.
func TestAKilledRestoreIsFinishedOrNotBegun(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	d := newDesk(t, checkpoint.Limits{})
	d.fill()
	first := d.dump()
	s := d.snapshot()
	d.agent(func() {
		must(t, os.RemoveAll(d.path("d1")))
		must(t, os.WriteFile(d.path("d1"), []byte("a file"), 0o600))
		must(t, os.Remove(d.path("link")))
		must(t, os.Mkdir(d.path("link"), 0o700))
		for i := range 60 {
			d.write(map[string]string{fmt.Sprintf("d0/f%d", i*6%120): fmt.Sprint("agent ", i), fmt.Sprintf("new/%d/f", i): "new"})
		}
		must(t, os.Chmod(d.path("d3"), 0o700))
		must(t, os.Remove(d.path("empty")))
	})
	changed := d.dump()
	var before, between, after int
	for range 16 {
		ended := d.killed("restore", s.ID, time.Duration(r.IntN(120))*time.Millisecond)
		half := d.dump()
		if len(diffKeys(half, first)) > 0 && len(diffKeys(half, changed)) > 0 {
			between++
		}
		w, err := d.store.Diff(t.Context(), d.dir, s.ID, s.ID, nil) // the next use
		if err != nil || len(w) > 0 {
			t.Fatalf("%v, %v", w, err)
		}
		got := d.dump()
		switch {
		case len(diffKeys(got, first)) == 0:
			after++
		case len(diffKeys(got, changed)) == 0 && !ended:
			before++
			continue
		default:
			same(t, "neither before nor after", got, first)
		}
		// The ledger must be whole as well: undoing the restore gives the state before.
		list, err := d.store.List(d.dir)
		must(t, err)
		d.restore(list.Snapshots[len(list.Snapshots)-1], checkpoint.RestoreOptions{All: true})
		if len(diffKeys(d.dump(), changed)) > 0 {
			same(t, "the undone restore", d.dump(), changed)
		}
	}
	noLeftovers(t, d.dir)
	t.Logf("killed before %d, between %d, after %d", before, between, after)
	if before == 0 || after == 0 || between == 0 {
		t.Errorf("the kills hit too little: before %d, between %d, after %d", before, between, after)
	}
}

// TestAKilledUndoIsFinishedOrNotBegun is the same with the undo of one call. Which calls are
// undone is known afterwards, too.
func TestAKilledUndoIsFinishedOrNotBegun(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(15, 8))
	d := newDesk(t, checkpoint.Limits{})
	d.fill()
	d.snapshot()
	first := d.dump()
	d.agent(func() {
		for i := range 60 {
			d.write(map[string]string{fmt.Sprintf("d0/f%d", i*6%120): fmt.Sprint("agent ", i), fmt.Sprintf("new/%d/f", i): "new"})
		}
	})
	changed := d.dump()
	made := d.edits()[0]
	var before, after int
	for range 12 {
		d.killed("undo", made.ID, time.Duration(r.IntN(120))*time.Millisecond)
		_, err := d.store.PlanUndo(t.Context(), d.dir, nil) // the next use
		must(t, err)
		now := d.edits()
		undone := now[len(now)-1].Undone
		if !undone {
			before++
			same(t, "the undo did not begin", d.dump(), changed)
			continue
		}
		after++
		same(t, "the undo is finished", d.dump(), first)
		d.undo(now[0])
		same(t, "the undo undone", d.dump(), changed)
		if now := d.edits(); now[len(now)-1].Undone {
			t.Fatalf("still undone: %+v", now)
		}
	}
	noLeftovers(t, d.dir)
	if after == 0 {
		t.Errorf("the kills hit too little: before %d, after %d", before, after)
	}
}

func diffKeys(a, b map[string]string) []string {
	var out []string
	for k, v := range a {
		if b[k] != v {
			out = append(out, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	return out
}
