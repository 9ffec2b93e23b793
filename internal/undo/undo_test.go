package undo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/undo"
)

// clock advances a second with every call.
func clock() func() time.Time {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Second); return now }
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree returns every file below a folder with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // emptied
		}
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func record(t *testing.T, j *undo.Journal, what string, paths []string, fn func()) {
	t.Helper()
	if err := j.Record(t.Context(), undo.Note{Kind: "memory", Actor: "s1", What: what}, paths, func() error { fn(); return nil }); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, j *undo.Journal) []undo.Change {
	t.Helper()
	all, err := j.List(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestUndoRestoresTheEarlierContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := undo.New(filepath.Join(t.TempDir(), "undo"), clock())
	file, skill := filepath.Join(dir, "MEMORY.md"), filepath.Join(dir, "skills", "a")
	write(t, file, "one")
	record(t, j, "add a line", []string{file}, func() { write(t, file, "one\ntwo") })
	record(t, j, "make a skill", []string{skill}, func() { write(t, filepath.Join(skill, "SKILL.md"), "steps") })
	record(t, j, "nothing", []string{file}, func() {})
	all := list(t, j)
	if len(all) != 2 || all[0].What != "make a skill" || all[1].Actor != "s1" {
		t.Fatalf("changes %+v", all)
	}
	previews, err := j.Preview(all)
	preview := previews[1]
	if err != nil || !strings.Contains(preview, "-two") {
		t.Errorf("preview %q, %v", preview, err)
	}
	if n, err := j.Undo(t.Context(), all, "person", false); err != nil || n != 2 {
		t.Fatalf("undone %d, %v", n, err)
	}
	if diff := cmp.Diff(map[string]string{"MEMORY.md": "one"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "skills")); err == nil {
		t.Error("an empty folder is left")
	}
	if n, err := j.Undo(t.Context(), list(t, j)[2:], "person", false); err != nil || n != 0 {
		t.Errorf("undone twice: %d, %v", n, err)
	}
	if n, err := j.Undo(t.Context(), list(t, j)[:2], "person", false); err != nil || n != 2 {
		t.Fatalf("the undo was not undone: %d, %v", n, err)
	}
	if got := tree(t, dir); got["MEMORY.md"] != "one\ntwo" || got[filepath.Join("skills", "a", "SKILL.md")] != "steps" {
		t.Errorf("after undoing the undo: %v", got)
	}
}

func TestLaterChangesAreNotLost(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f")
	j := undo.New(filepath.Join(t.TempDir(), "undo"), clock())
	write(t, file, "one")
	record(t, j, "x", []string{file}, func() { write(t, file, "two") })
	write(t, file, "mine")
	_, err := j.Undo(t.Context(), list(t, j), "person", false)
	if !errors.Is(err, undo.ErrChanged) || hold(t, file) != "mine" {
		t.Errorf("err %v, file %q", err, hold(t, file))
	}
	if _, err := j.Undo(t.Context(), list(t, j), "person", true); err != nil || hold(t, file) != "one" {
		t.Errorf("forced: %v, file %q", err, hold(t, file))
	}
	if _, err := j.Undo(t.Context(), list(t, j)[:1], "person", false); err != nil || hold(t, file) != "mine" {
		t.Errorf("what force overwrote is gone: %v, file %q", err, hold(t, file))
	}
}

// TestUndoOfAnEarlierMemoryEntryKeepsLaterOnes is about undoing a change that is not
// the last: later changes stay.
func TestUndoOfAnEarlierMemoryEntryKeepsLaterOnes(t *testing.T) {
	t.Parallel()
	states := []string{"a\n", "a\n§\nb\n", "a\n§\nb\n§\nc\n", "a\n§\nbb\n§\nc\n"}
	for name, tt := range map[string]struct {
		back int // which of the changes between states, from 0
		want string
	}{
		"one in the middle, which was changed since": {0, ""},
		"the last but one":                           {1, "a\n§\nbb\n"},
		"the last":                                   {2, states[2]},
	} {
		file := filepath.Join(t.TempDir(), "MEMORY.md")
		j := undo.New(filepath.Join(t.TempDir(), "undo"), clock())
		write(t, file, states[0])
		for _, s := range states[1:] {
			record(t, j, "x", []string{file}, func() { write(t, file, s) })
		}
		changes := list(t, j)
		one := []undo.Change{changes[len(changes)-1-tt.back]}
		previews, err := j.Preview(one)
		if err != nil || strings.Contains(previews[0], "changed since") != (tt.want == "") {
			t.Errorf("%s: preview %q, %v", name, previews, err)
		}
		_, err = j.Undo(t.Context(), one, "person", false)
		if tt.want == "" {
			if !errors.Is(err, undo.ErrChanged) || !strings.Contains(previews[0], "-c\n") {
				t.Errorf("%s: %v, preview %q", name, err, previews)
			}
			continue
		}
		if err != nil || hold(t, file) != tt.want {
			t.Errorf("%s: %v, file %q", name, err, hold(t, file))
		}
		if _, err := j.Undo(t.Context(), list(t, j)[:1], "person", false); err != nil || hold(t, file) != states[3] {
			t.Errorf("%s: undoing the undo: %v, file %q", name, err, hold(t, file))
		}
	}
}

func hold(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestChangeInterruptedByACrashCanBeUndone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "f"), filepath.Join(t.TempDir(), "undo")
	j := undo.New(folder, clock())
	write(t, file, "one")
	record(t, j, "x", []string{file}, func() { write(t, file, "two") })
	records := filepath.Join(folder, "records.jsonl")
	first, _, _ := strings.Cut(hold(t, records), "\n")
	write(t, records, first+"\n{\"id\": half a li") // the end was never written
	if n, err := j.Undo(t.Context(), list(t, j), "person", false); err != nil || n != 1 || hold(t, file) != "one" {
		t.Errorf("undone %d, %v, file %q", n, err, hold(t, file))
	}
}

// TestRandomChangesUndoneGiveTheFirstState checks that undoing any changes
// restores the first state byte for byte.
func TestRandomChangesUndoneGiveTheFirstState(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		j := undo.New(filepath.Join(t.TempDir(), "undo"), clock())
		names := []string{"a", "b/c", "b/d", "e/f/g", "e/h"}
		for _, n := range names[:r.IntN(len(names)+1)] {
			write(t, filepath.Join(dir, n), fmt.Sprint("first ", n))
		}
		first := tree(t, dir)
		for i := range 20 {
			var paths []string
			for _, n := range names {
				if r.IntN(2) == 0 {
					paths = append(paths, filepath.Join(dir, n))
				}
			}
			if r.IntN(4) == 0 {
				paths = []string{dir}
			}
			record(t, j, fmt.Sprint(i), paths, func() {
				for _, p := range paths {
					if p == dir {
						p = filepath.Join(dir, names[r.IntN(len(names))])
					}
					if r.IntN(3) == 0 {
						_ = os.Remove(p) // may not be there
						continue
					}
					write(t, p, fmt.Sprint(i, strings.Repeat("x", r.IntN(5))))
				}
			})
		}
		if _, err := j.Undo(t.Context(), list(t, j), "person", false); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(first, tree(t, dir)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestPruneRemovesOnlyOldChanges(t *testing.T) {
	t.Parallel()
	file, folder := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "undo")
	now := clock()
	j := undo.New(folder, now)
	write(t, file, "one")
	record(t, j, "old", []string{file}, func() { write(t, file, "two") })
	edge := now()
	record(t, j, "new", []string{file}, func() { write(t, file, "three") })
	if err := j.Prune(t.Context(), edge); err != nil {
		t.Fatal(err)
	}
	all := list(t, j)
	if len(all) != 1 || all[0].What != "new" {
		t.Fatalf("changes %+v", all)
	}
	if n := len(tree(t, filepath.Join(folder, "blobs"))); n != 2 {
		t.Errorf("%d kept contents, want 2", n)
	}
	if _, err := j.Undo(t.Context(), all, "person", false); err != nil || hold(t, file) != "two" {
		t.Errorf("%v, file %q", err, hold(t, file))
	}
}

func TestRecordsOfASourceAreUndone(t *testing.T) {
	t.Parallel()
	rows := map[string]string{"row:a": "one"}
	bare := undo.New(filepath.Join(t.TempDir(), "undo"), clock())
	j := bare.With("row", undo.Source{
		Read: func(path string) ([]byte, error) {
			if text, ok := rows[path]; ok {
				return []byte(text), nil
			}
			return nil, nil
		},
		Write: func(path string, content []byte) error {
			rows[path] = string(content)
			if content == nil {
				delete(rows, path)
			}
			return nil
		},
	})
	record(t, j, "join", []string{"row:a", "row:b", "row:c"}, func() { delete(rows, "row:a"); rows["row:b"] = "two" })
	list, err := j.List(time.Time{})
	if err != nil || len(list) != 1 || len(list[0].Files) != 2 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if _, err := bare.Undo(t.Context(), list, "person", true); err == nil {
		t.Error("undone without the source")
	}
	rows["row:b"] = "since"
	if _, err := j.Undo(t.Context(), list, "person", false); !errors.Is(err, undo.ErrChanged) {
		t.Errorf("over a change since: %v", err)
	}
	rows["row:b"] = "two"
	if _, err := j.Undo(t.Context(), list, "person", false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"row:a": "one"}, rows); diff != "" {
		t.Error(diff)
	}
	if list, err = j.List(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Undo(t.Context(), list[:1], "person", false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"row:b": "two"}, rows); diff != "" {
		t.Errorf("after undoing the undo: %s", diff)
	}
}

// TestUndoThatFailsInTheMiddleCanBeUndone is about a change of two records of which the second
// cannot be written back: the first is overwritten, and what it was must not be lost.
func TestUndoThatFailsInTheMiddleCanBeUndone(t *testing.T) {
	t.Parallel()
	rows := map[string]string{"row:a": "one", "row:b": "one"}
	full := false
	j := undo.New(filepath.Join(t.TempDir(), "undo"), clock()).With("row", undo.Source{
		Read: func(path string) ([]byte, error) { return []byte(rows[path]), nil },
		Write: func(path string, content []byte) error {
			if full && path == "row:b" {
				return errors.New("no space")
			}
			rows[path] = string(content)
			return nil
		},
	})
	record(t, j, "x", []string{"row:a", "row:b"}, func() { rows["row:a"], rows["row:b"] = "two", "two" })
	rows["row:a"] = "mine"
	full = true
	if n, err := j.Undo(t.Context(), list(t, j), "person", true); err == nil || n != 0 || rows["row:a"] != "one" {
		t.Fatalf("undone %d, %v, %v", n, err, rows)
	}
	full = false
	if err := j.Prune(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	all := list(t, j)
	if len(all) != 2 || all[1].Undone {
		t.Fatalf("changes %+v", all)
	}
	if _, err := j.Undo(t.Context(), all[:1], "person", false); err != nil || rows["row:a"] != "mine" {
		t.Errorf("what was overwritten is gone: %v, %v", err, rows)
	}
	if n, err := j.Undo(t.Context(), list(t, j)[2:], "person", true); err != nil || n != 1 || rows["row:a"] != "one" || rows["row:b"] != "one" {
		t.Errorf("the change could not be undone again: %d, %v, %v", n, err, rows)
	}
}

// TestUndoIsRecordedAlthoughItsContextEnds is about one that is cancelled while it writes, and one
// that a crash ends there.
func TestUndoIsRecordedAlthoughItsContextEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		crash  bool
		undone bool
	}{"cancelled": {false, true}, "a crash before the second": {true, false}} {
		rows := map[string]string{"row:a": "one", "row:b": "one"}
		folder := filepath.Join(t.TempDir(), "undo")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		j := undo.New(folder, clock())
		var atCrash string
		j = j.With("row", undo.Source{
			Read: func(path string) ([]byte, error) { return []byte(rows[path]), nil },
			Write: func(path string, content []byte) error {
				cancel()
				if path == "row:b" && tt.crash {
					atCrash = hold(t, filepath.Join(folder, "records.jsonl"))
					return nil
				}
				rows[path] = string(content)
				return nil
			},
		})
		record(t, j, "x", []string{"row:a", "row:b"}, func() { rows["row:a"], rows["row:b"] = "two", "two" })
		if _, err := j.Undo(ctx, list(t, j), "person", false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tt.crash {
			write(t, filepath.Join(folder, "records.jsonl"), atCrash)
		}
		all := list(t, j)
		if len(all) != 2 || all[1].Undone != tt.undone {
			t.Errorf("%s: changes %+v", name, all)
			continue
		}
		if _, err := j.Undo(t.Context(), all[:1], "person", false); err != nil || rows["row:a"] != "two" || rows["row:b"] != "two" {
			t.Errorf("%s: the undo was not undone: %v, %v", name, err, rows)
		}
	}
}

func TestARecordAfterOneThatACrashCutIsRead(t *testing.T) {
	t.Parallel()
	file, folder := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "undo")
	j := undo.New(folder, clock())
	write(t, file, "one")
	write(t, filepath.Join(folder, "records.jsonl"), `{"id": half a li`)
	open := 0
	if err := j.Record(t.Context(), undo.Note{Kind: "memory", What: "x"}, []string{file}, func() error {
		write(t, file, "two")
		open = len(list(t, j))
		return nil
	}); err != nil || open != 1 || len(list(t, j)) != 1 {
		t.Errorf("%v, %d changes while it was open, then %+v", err, open, list(t, j))
	}
}
