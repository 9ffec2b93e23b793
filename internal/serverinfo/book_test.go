package serverinfo_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes"
	"hermes/internal/serverinfo"
)

const address = "http://box:8000"

// TestARefusedWindowHoldsUntilTheListChanges: a server that lists what it refuses is not
// believed, in this run and in the next.
func TestARefusedWindowHoldsUntilTheListChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := serverinfo.NewBook(dir)
	says := func(window int) {
		book.Keep(address, []hermes.ModelInfo{{ID: "a", ContextLength: window}, {ID: "b", ContextLength: 5}})
	}
	want := func(when string, window int) {
		t.Helper()
		if m, ok := book.Of(address, "a"); !ok || m.ContextLength != window {
			t.Errorf("%s: %d, %v; want %d", when, m.ContextLength, ok, window)
		}
	}
	says(4000)
	book.Lower(address, "a", 9000)
	want("a refusal above what is known", 4000)
	book.Lower(address, "a", 1000)
	want("a refusal", 1000)
	says(4000)
	want("the same list", 1000)
	book = serverinfo.NewBook(dir)
	want("the next run", 1000)
	says(0)
	want("a list without windows", 1000)
	says(3000)
	want("another list", 3000)
}

// TestAnAddressIsListedOnce: until it has to be asked again.
func TestAnAddressIsListedOnce(t *testing.T) {
	t.Parallel()
	book := serverinfo.NewBook("")
	for i, want := range []struct{ ok, again bool }{{true, false}, {false, true}, {true, true}} {
		if i == 2 {
			book.AskAgain(address)
		}
		if ok, again := book.MayList(address); ok != want.ok || again != want.again {
			t.Errorf("question %d: %v, %v; want %v", i, ok, again, want)
		}
	}
}

// TestOnlyKnownPathsAreAddedToAddresses: what a chat was answered at outlives the run; a
// file that somebody else wrote names no other path.
func TestOnlyKnownPathsAreAddedToAddresses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := serverinfo.NewBook(dir)
	book.Answered(address, serverinfo.APIPath)
	book.Listed(address, "")
	if got := serverinfo.NewBook(dir).Path(address); got != serverinfo.APIPath {
		t.Errorf("the next run has the path %q", got)
	}
	book.Gone(address, serverinfo.APIPath)
	book.Listed(address, "")
	if got := serverinfo.NewBook(dir).Path(address); got != "" {
		t.Errorf("a path that is gone is %q", got)
	}
	book.Listed(address, serverinfo.APIPath)
	files, _ := filepath.Glob(filepath.Join(dir, "*.path"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	if err := os.WriteFile(files[0], []byte("@evil.example\nanswers\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serverinfo.NewBook(dir).Path(address); got != "" {
		t.Errorf("a file changed the path to %q", got)
	}
}
