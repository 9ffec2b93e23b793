package checkpoint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/checkpoint"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A desk is a folder with a store beside it.
type desk struct {
	t     testing.TB
	dir   string
	store *checkpoint.Store
	at    string // the folder of the store
}

func newDesk(t testing.TB, limits checkpoint.Limits) *desk {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	d := &desk{t: t, dir: filepath.Join(base, "project"), at: filepath.Join(base, "checkpoints")}
	must(t, os.Mkdir(d.dir, 0o755))
	d.store = checkpoint.New(checkpoint.Config{Folder: d.at, Limits: limits})
	return d
}

func (d *desk) path(rel string) string { return filepath.Join(d.dir, filepath.FromSlash(rel)) }

// write writes files and the folders that they need.
func (d *desk) write(files map[string]string) {
	d.t.Helper()
	for rel, text := range files {
		must(d.t, os.MkdirAll(filepath.Dir(d.path(rel)), 0o755))
		must(d.t, os.WriteFile(d.path(rel), []byte(text), 0o644))
	}
}

func (d *desk) read(rel string) string {
	d.t.Helper()
	data, err := os.ReadFile(d.path(rel))
	must(d.t, err)
	return string(data)
}

// agent does something as the agent does: the ledger has it.
func (d *desk) agent(change func(), paths ...string) {
	d.t.Helper()
	w, err := d.store.Begin(d.t.Context(), d.dir, "test", paths)
	must(d.t, err)
	change()
	must(d.t, w.Done(d.t.Context()))
}

// snapshot makes a snapshot, also if nothing changed.
func (d *desk) snapshot() checkpoint.Snapshot {
	d.t.Helper()
	s, made, err := d.store.Snapshot(d.t.Context(), d.dir, checkpoint.Meta{Reason: "test"}, checkpoint.SnapshotOptions{Always: true})
	must(d.t, err)
	if !made {
		d.t.Fatal("no snapshot was made")
	}
	return s
}

func (d *desk) plan(s checkpoint.Snapshot, o checkpoint.RestoreOptions) checkpoint.Plan {
	d.t.Helper()
	p, err := d.store.Plan(d.t.Context(), d.dir, s.ID, o)
	must(d.t, err)
	return p
}

func (d *desk) restore(s checkpoint.Snapshot, o checkpoint.RestoreOptions) (checkpoint.Plan, checkpoint.Result) {
	d.t.Helper()
	p := d.plan(s, o)
	r, err := d.store.Restore(d.t.Context(), p, checkpoint.Meta{Reason: "before a restore"})
	must(d.t, err)
	if len(r.Failed) > 0 {
		d.t.Fatalf("steps failed: %v", r.Failed)
	}
	return p, r
}

// dump returns everything that is in a folder, by path: kind, mode, content or target.
func dump(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text = "link " + target
		}
		rel, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = text
		return err
	}))
	return out
}

func (d *desk) dump() map[string]string { return dump(d.t, d.dir) }

// same fails if two dumps differ.
func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, fmt.Sprintf("%.3000s", diff))
	}
}
