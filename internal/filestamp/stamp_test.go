package filestamp_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hermes/internal/filestamp"
)

func stamp(t *testing.T, path string) filestamp.Stamp {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return filestamp.Of(info)
}

// TestAFileThatWasReplacedHasAnotherStamp, also if its size and time are made those of the
// earlier one.
func TestAFileThatWasReplacedHasAnotherStamp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its files have no inode here")
	}
	path := filepath.Join(t.TempDir(), "f")
	past := time.Now().Add(-time.Hour)
	put := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	put(path, "one")
	first := stamp(t, path)
	if first != stamp(t, path) {
		t.Error("the same file has two stamps")
	}
	put(path+".new", "two")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if stamp(t, path) == first {
		t.Error("another file in its place has the same stamp")
	}
	if first == (filestamp.Stamp{}) || filestamp.Of(nil) != (filestamp.Stamp{}) {
		t.Error("a missing file has the stamp of one that is there")
	}
}

// TestAFileThatJustChangedIsNotSettled: a second change in the same step of the clock would
// not be seen.
func TestAFileThatJustChangedIsNotSettled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := stamp(t, path)
	if s.Settled(time.Now()) {
		t.Error("it is settled at once")
	}
	if known := runtime.GOOS == "linux" || runtime.GOOS == "darwin"; s.Settled(time.Now().Add(time.Minute)) != known || !filestamp.Of(nil).Settled(time.Now()) {
		t.Error("it is never settled, or where no one knows when it changed")
	}
}

// TestAKeptStampIsTheSame when it is read again, and what is cut or is not a stamp is refused.
func TestAKeptStampIsTheSame(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, want := range []filestamp.Stamp{{}, stamp(t, path)} {
		kept, err := want.AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		got, rest, ok := filestamp.Decode(append(kept[6:], "rest"...))
		if !ok || got != want || string(rest) != "rest" {
			t.Errorf("got %v, %q, %v, want %v", got, rest, ok, want)
		}
		if _, _, ok := filestamp.Decode(kept[6 : len(kept)-1]); ok {
			t.Error("a cut stamp was read")
		}
	}
	if _, _, ok := filestamp.Decode([]byte("not a stamp, but long enough to be read as one, really")); ok {
		t.Error("a text was read as a stamp")
	}
}
