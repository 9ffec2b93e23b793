package file_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestReadsThatMakeProgress: a file that changes may be read as often as the
// model likes; only equal reads with equal results are refused.
func TestReadsThatMakeProgress(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, path string, i int){
		"it grows": func(w *world, path string, i int) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			must(w.t, err)
			_, err = fmt.Fprintf(f, "line %d\n", i)
			must(w.t, err)
			must(w.t, f.Close())
		},
		"it grows below the page": func(w *world, path string, i int) {
			must(w.t, os.WriteFile(path, []byte(strings.Repeat("x\n", 100+i)), 0o644))
		},
		"it is replaced": func(w *world, path string, i int) {
			must(w.t, os.WriteFile(path+".new", []byte(fmt.Sprintf("%04d\n", i)), 0o644))
			must(w.t, os.Rename(path+".new", path))
		},
		"its size and time stay": func(w *world, path string, i int) {
			must(w.t, os.WriteFile(path, []byte(fmt.Sprintf("%04d\n", i)), 0o644))
			must(w.t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
		},
	} {
		w := newWorld(t)
		path := w.put("log", "start\n")
		last := ""
		for i := range 20 {
			change(w, path, i)
			got, _, err := w.run("read_file", args{"path": "log", "limit": 50})
			if err != nil || got["_warning"] != nil || got["unchanged"] != nil {
				t.Fatalf("%s, read %d: %v %v", name, i+1, got, err)
			}
			now := fmt.Sprint(got["content"], got["total_lines"])
			if now == last {
				t.Fatalf("%s, read %d: nothing changed", name, i+1)
			}
			last = now
		}
		if got := w.ok("read_file", args{"path": "log", "limit": 50}); got["unchanged"] != true {
			t.Errorf("%s: then it stays, and the notice does not come: %v", name, got)
		}
		w.refused("read_file", args{"path": "log", "limit": 50}, "BLOCKED")
	}
}

// TestSearchesThatMakeProgress is the same for searches.
func TestSearchesThatMakeProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	same := args{"pattern": "ERROR"}
	for i := range 10 {
		w.put("log", strings.Repeat("ERROR\n", i+1))
		got, _, err := w.run("search_files", same)
		if err != nil || got["_warning"] != nil || got["total_count"] != float64(i+1) {
			t.Fatalf("search %d: %v %v", i+1, got, err)
		}
	}
	w.ok("search_files", same)
	if got := w.ok("search_files", same); got["_warning"] == nil {
		t.Errorf("the third search with the same result warns: %v", got)
	}
	w.refused("search_files", same, "BLOCKED")
	w.put("log", "ERROR\n")
	w.ok("search_files", same)
}

// TestAnEmptyFileIsShownAgain: there is no content above to point at.
func TestAnEmptyFileIsShownAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("empty", "")
	for range 2 {
		if got := w.ok("read_file", args{"path": "empty"}); got["unchanged"] != nil || got["note"] != "the file is empty" {
			t.Errorf("got %v", got)
		}
	}
}
