package file_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangedNamesEachChangeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.put("a.txt", "one\n"), w.put("b.txt", "one\n")
	log := w.put("x.log", "one\n")
	w.put("unread.txt", "one\n")
	for _, name := range []string{"a.txt", "b.txt", "x.log"} {
		w.ok("read_file", args{"path": name})
	}
	if got := w.set.Changed(w.env.session); got != nil {
		t.Errorf("nothing was changed: %v", got)
	}
	w.put("a.txt", "one\ntwo\n")
	w.put("unread.txt", "two more\n")
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{a, b + " (removed)"}, w.set.Changed(w.env.session)); diff != "" {
		t.Error(diff)
	}
	if got := w.set.Changed(w.env.session); got != nil {
		t.Errorf("named twice: %v", got)
	}
	w.put("a.txt", "one\ntwo\nthree\n")
	if got := w.set.Changed(w.env.session); len(got) != 1 {
		t.Errorf("another change: %v", got)
	}
	w.ok("read_file", args{"path": "a.txt"})
	w.ok("write_file", args{"path": "a.txt", "content": "mine\n"})
	if got := w.set.Changed(w.env.session); got != nil {
		t.Errorf("its own write: %v", got)
	}
}

func TestManyChangesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 14 {
		w.put(fmt.Sprintf("%02d.txt", i), "one\n")
		w.ok("read_file", args{"path": fmt.Sprintf("%02d.txt", i)})
	}
	for i := range 14 {
		w.put(fmt.Sprintf("%02d.txt", i), "one\ntwo\n")
	}
	if got := w.set.Changed(w.env.session); len(got) != 11 || got[10] != "and 4 more" {
		t.Errorf("got %q", got)
	}
	if got := w.set.Changed(w.env.session); got != nil {
		t.Errorf("named twice: %q", got)
	}
}
