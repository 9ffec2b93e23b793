package checkpoint

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"hermes/internal/checkpoint/object"
	"hermes/internal/filestamp"
)

func someTree() []child {
	hash := object.HashOf([]byte("x"))
	return []child{
		{"a.go", State{Kind: File, Mode: 0o644, Size: 7, Hash: hash}},
		{"dir", State{Kind: Folder, Mode: 0o755 | os.ModeSetgid, Hash: hash}},
		{"link", State{Kind: Link, Target: "../a"}},
		{"out", State{Kind: LeftOut, Why: Ignored}},
	}
}

func TestATreeIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	data := encodeTree(someTree())
	got, err := decodeTree(data)
	if err != nil || !reflect.DeepEqual(got, someTree()) {
		t.Errorf("got %v, %v", got, err)
	}
	for n := range data {
		if _, err := decodeTree(data[:n]); err == nil {
			t.Errorf("cut to %d bytes: not noticed", n)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "a\x00"} {
		if _, err := decodeTree(encodeTree([]child{{name, State{Kind: File}}})); err == nil {
			t.Errorf("the name %q was read", name)
		}
	}
	if _, err := decodeTree(encodeTree([]child{{"b", State{Kind: File}}, {"a", State{Kind: File}}})); err == nil {
		t.Error("names out of order were read")
	}
}

func FuzzTree(f *testing.F) {
	f.Add(encodeTree(someTree()))
	f.Add(encodeTree(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := decodeTree(data)
		if err != nil {
			return
		}
		again, err := decodeTree(encodeTree(tree))
		if err != nil || !reflect.DeepEqual(again, tree) {
			t.Errorf("got %v, %v, want %v", again, err, tree)
		}
	})
}

func someCache(t testing.TB) map[string]*cached {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*cached{"a/b": {stamp: filestamp.Of(info), hash: object.HashOf(nil)}, "c": {}}
}

func TestADamagedCacheIsNotUsed(t *testing.T) {
	t.Parallel()
	want := someCache(t)
	data := encodeCache(want)
	if got, err := decodeCache(data); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		if _, err := decodeCache(bad); err == nil {
			t.Errorf("byte %d: not noticed", i)
		}
	}
}

func FuzzCache(f *testing.F) {
	f.Add(encodeCache(someCache(f)))
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := object.HashOf(data) // so that more than the checksum is tried
		_, _ = decodeCache(append(bytes.Clone(data), sum[:]...))
		if got, err := decodeCache(data); err == nil {
			if again, err := decodeCache(encodeCache(got)); err != nil || !reflect.DeepEqual(got, again) {
				t.Errorf("got %v, %v, want %v", again, err, got)
			}
		}
	})
}

func FuzzJournal(f *testing.F) {
	good, err := json.Marshal(journal{Version: journalVersion, Snapshot: "c1", Head: "c1", Time: time.Unix(1, 0), Steps: []Step{
		{Path: "a/b", To: State{Kind: File, Mode: 0o644}}, {Path: ".", From: State{Kind: Folder}},
	}, Modes: map[string]os.FileMode{"a": 0o500}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"steps":[{"path":"../out"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := decodeJournal(data)
		if err != nil {
			return
		}
		for _, st := range j.Steps {
			if !filepath.IsLocal(filepath.FromSlash(st.Path)) {
				t.Errorf("the path %q was read", st.Path)
			}
		}
	})
}

func FuzzLedger(f *testing.F) {
	line, err := json.Marshal(move{N: 3, By: "patch", Path: "a", After: State{Kind: File}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(line, "\n{\"n\":4,\"path\":\"../x\"}\ncut"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range decodeMoves(data) {
			if m.N <= 0 || !filepath.IsLocal(filepath.FromSlash(m.Path)) {
				t.Errorf("got %+v", m)
			}
		}
	})
}

func FuzzList(f *testing.F) {
	good, err := json.Marshal(list{Version: listVersion, Folder: "/x", Head: "c2", Snapshots: []Snapshot{{ID: "c1", Number: 1}, {ID: "c2", Number: 2, Parent: "c1"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"head":"a","snapshots":[{"id":"a","parent":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := decodeList("list", data)
		if err != nil {
			return
		}
		l.drop(func(s Snapshot) bool { return s.Number%2 == 0 }) // ends, also with parents in a circle
		_, _ = l.find(l.Head)
	})
}

// TestALineThatACrashCutIsReplaced: the ledger goes on behind the last whole line.
func TestALineThatACrashCutIsReplaced(t *testing.T) {
	t.Parallel()
	w := &workspace{at: t.TempDir(), store: New(Config{})}
	for i, cut := range []string{"", `{"n":2,"path":"b`, "\x00\x00\x00", string(bytes.Repeat([]byte("x"), 3*tailSize))} {
		if err := w.record([]move{{Path: "a"}}); err != nil {
			t.Fatal(err)
		}
		if n, err := w.lastMove(); err != nil || n != int64(i+1) {
			t.Errorf("got number %d, %v, want %d", n, err, i+1)
		}
		f, err := os.OpenFile(w.file(ledgerName), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(cut)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.record([]move{{Path: "last"}}); err != nil {
		t.Fatal(err)
	}
	all, err := w.moves(0)
	if err != nil || len(all) != 5 || all[4].Path != "last" {
		t.Errorf("got %v, %v", all, err)
	}
}

// TestTheCacheHasNoFileThatMayChangeUnseen: a file whose times are near those of its reading is
// read again, since clocks of file systems are coarse.
func TestTheCacheHasNoFileThatMayChangeUnseen(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, time.Hour} {
		s := New(Config{Folder: filepath.Join(base, "store"), Now: func() time.Time { return time.Now().Add(later) }})
		if _, _, err := s.Snapshot(t.Context(), dir, Meta{}, SnapshotOptions{Always: true}); err != nil {
			t.Fatal(err)
		}
		_, has := loadCache(filepath.Join(s.folderOf(dir), "scan"))["f"]
		if want := later > 0 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin"); has != want {
			t.Errorf("%v after the file was made: it is in the cache: %v, want %v", later, has, want)
		}
	}
}
