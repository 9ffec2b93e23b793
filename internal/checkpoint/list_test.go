package checkpoint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint"
)

// TestTreeShowsWhatFollowsWhat also where a parent is gone or a damaged list has a circle.
func TestTreeShowsWhatFollowsWhat(t *testing.T) {
	t.Parallel()
	snap := func(n int, parent string) checkpoint.Snapshot {
		return checkpoint.Snapshot{ID: string(rune('a' + n - 1)), Number: n, Parent: parent}
	}
	tests := map[string]struct {
		list []checkpoint.Snapshot
		want string
	}{
		"a line":         {[]checkpoint.Snapshot{snap(1, ""), snap(2, "a"), snap(3, "b")}, "1 2 3"},
		"a branch":       {[]checkpoint.Snapshot{snap(1, ""), snap(2, "a"), snap(3, "b"), snap(4, "a")}, "1 ├─2 │ 3 4"},
		"in a branch":    {[]checkpoint.Snapshot{snap(1, ""), snap(2, "a"), snap(3, "b"), snap(4, "b"), snap(5, "a")}, "1 ├─2 │ ├─3 │ 4 5"},
		"pruned parents": {[]checkpoint.Snapshot{snap(2, "a"), snap(3, "x")}, "├─2 3"},
		"a circle":       {[]checkpoint.Snapshot{snap(1, "b"), snap(2, "a"), snap(3, "c")}, "3 1 2"},
		"none":           {nil, ""},
	}
	for name, tt := range tests {
		var got []string
		for _, b := range (checkpoint.Workspace{Snapshots: tt.list}).Tree() {
			got = append(got, b.Lines+string(rune('0'+b.Number)))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", name, strings.Join(got, " "), tt.want)
		}
	}
}

// TestMissedNamesWhatNoRestoreBringsBack and nothing else.
func TestMissedNamesWhatNoRestoreBringsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := checkpoint.New(checkpoint.Config{Folder: filepath.Join(t.TempDir(), "checkpoints"), Limits: checkpoint.Limits{FileSize: 1000}})
	write := func(name string, size int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitignore", 0)
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("ignored\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stays", "changes", "goes", "ignored", "shrinks"} {
		write(name, 2000)
	}
	write("grows", 10)
	if _, _, err := store.Snapshot(t.Context(), dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := store.Begin(t.Context(), dir, "terminal", nil)
	if err != nil {
		t.Fatal(err)
	}
	write("changes", 3000)
	write("ignored", 3000)
	write("new", 3000)
	write("grows", 3000) // its old content is in the snapshot
	write("shrinks", 10)
	write("small", 10)
	if err := os.Remove(filepath.Join(dir, "goes")); err != nil {
		t.Fatal(err)
	}
	if err := w.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range w.Missed() {
		got = append(got, k.Path+" "+k.Why)
	}
	want := "changes too large, goes too large, new too large, shrinks too large"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestARollbackIsKnownUntilItEnds, one for each session.
func TestARollbackIsKnownUntilItEnds(t *testing.T) {
	t.Parallel()
	store := checkpoint.New(checkpoint.Config{Folder: filepath.Join(t.TempDir(), "checkpoints")})
	if _, ok, err := store.CutOff("../s"); ok || err != nil {
		t.Errorf("before: %v, %v", ok, err)
	}
	want := checkpoint.Rollback{Session: "../s", Folder: "/x", Snapshot: "c1", Number: 1, Message: 7}
	if err := store.BeginRollback(want); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := store.CutOff("../s"); got != want || !ok || err != nil {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}
	if _, ok, _ := store.CutOff("other"); ok {
		t.Error("it is another session's")
	}
	if list, err := store.Workspaces(); len(list) > 0 || err != nil {
		t.Errorf("workspaces: %v, %v", list, err)
	}
	for range 2 {
		if err := store.EndRollback("../s"); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := store.CutOff("../s"); ok || err != nil {
		t.Errorf("after: %v, %v", ok, err)
	}
}

// TestLinesCountsWhatADiffAddsAndRemoves and not its header.
func TestLinesCountsWhatADiffAddsAndRemoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := checkpoint.New(checkpoint.Config{Folder: filepath.Join(t.TempDir(), "checkpoints")})
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "-- one\n++ two\nthree\n")
	write("bin", "\x00")
	if _, _, err := store.Snapshot(t.Context(), dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	write("a", "++ two\nthree\n++ four\n++ five\n")
	write("bin", "\x00\x01")
	changes, err := store.Diff(t.Context(), dir, "1", "", nil)
	if err != nil || len(changes) != 2 {
		t.Fatalf("got %+v, %v", changes, err)
	}
	if plus, minus := changes[0].Lines(); plus != 2 || minus != 1 || changes[0].What() != "changed" {
		t.Errorf("a: +%d -%d %s", plus, minus, changes[0].What())
	}
	if plus, minus := changes[1].Lines(); plus != 0 || minus != 0 {
		t.Errorf("bin: +%d -%d", plus, minus)
	}
}

// TestRelFollowsTheFoldersAboveAPath, also missing ones, and not the path itself.
func TestRelFollowsTheFoldersAboveAPath(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	folder := filepath.Join(top, "project")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(folder, "sub"), 0o755), os.Symlink("sub", filepath.Join(folder, "in")), os.Symlink(top, filepath.Join(folder, "out")),
		os.Symlink(folder, filepath.Join(top, "other")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[string]string{
		"project/a": "a", "project/in/a": "sub/a", "project/in": "in", "project/in/new/a": "sub/new/a", "other/sub/a": "sub/a", "project/../project/a": "a", "project": ".",
		"project/out/a": "", "project/out": "out", "a": "", "project-2/a": "", "project/../a": "",
	} {
		rel, ok := checkpoint.Rel(filepath.Join(top, "other"), top+"/"+at)
		if ok != (want != "") || ok && rel != want {
			t.Errorf("%s: %q, %v; want %q", at, rel, ok, want)
		}
	}
}

// TestADamagedListIsAnError that names it, for all that needs it, and the folder is free afterwards.
func TestADamagedListIsAnError(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"a": "1"})
	s := d.snapshot()
	found, err := filepath.Glob(filepath.Join(d.at, "*", "snapshots.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	good, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, one := d.store.Snapshot(t.Context(), d.dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{})
	_, two := d.store.Restore(t.Context(), checkpoint.Plan{Folder: d.dir, Snapshot: s}, checkpoint.Meta{})
	for _, err := range []error{one, two} {
		if err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("got %v", err)
		}
	}
	if err := os.WriteFile(found[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	d.snapshot()
}

// TestABusyFolderIsNamedOnce although a prune comes to it again, as the one with the oldest snapshot.
func TestABusyFolderIsNamedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	for _, text := range []string{"1", "2"} {
		d.write(map[string]string{"a": text})
		d.snapshot()
	}
	found, err := filepath.Glob(filepath.Join(d.at, "*", "snapshots.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	lock, err := atomicfile.Acquire(t.Context(), filepath.Dir(found[0]), "another", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	small := checkpoint.New(checkpoint.Config{Folder: d.at, Limits: checkpoint.Limits{TotalSize: 1}})
	if p, err := small.Prune(t.Context()); err != nil || len(p.Busy) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
