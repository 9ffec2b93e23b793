package file_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// searchWorld has a small project, on this machine or, without here, reachable
// only by commands.
func searchWorld(t *testing.T, here bool) *world {
	t.Helper()
	w := newWorld(t)
	w.env.here = here
	w.put("main.go", "package main\n\nfunc main() {\n\trun()\n}\n")
	w.put("pkg/run.go", "package pkg\n\nfunc run() {}\n")
	w.put("pkg/run_test.go", "package pkg\n")
	w.put("README.md", "Run it: run(1)\n")
	w.put(".env", "run=secret\n")
	w.put(".github/ci.yml", "run: go\n")
	for i, name := range []string{"main.go", "pkg/run.go", "pkg/run_test.go", "README.md"} {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		must(t, os.Chtimes(w.path(name), at, at))
	}
	return w
}

func TestSearch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args args
		want args
	}{
		{"lines, newest file first", args{"pattern": `run\(`},
			args{"matches": []any{line("main.go", 4, "\trun()"), line("pkg/run.go", 3, "func run() {}"), line("README.md", 1, "Run it: run(1)")}, "total_count": 3.0, "truncated": false}},
		{"a page", args{"pattern": `run\(`, "limit": 1, "offset": 1},
			args{"matches": []any{line("pkg/run.go", 3, "func run() {}")}, "total_count": 3.0, "truncated": true, "next_offset": 2.0}},
		{"only some files", args{"pattern": "package", "file_glob": "*_test.go"},
			args{"matches": []any{line("pkg/run_test.go", 1, "package pkg")}, "total_count": 1.0, "truncated": false}},
		{"files only", args{"pattern": "package", "output_mode": "files_only"},
			args{"files": []any{"main.go", "pkg/run.go", "pkg/run_test.go"}, "total_count": 3.0, "truncated": false}},
		{"counts", args{"pattern": "run", "path": "pkg", "output_mode": "count"},
			args{"counts": []any{args{"path": "pkg/run.go", "count": 1.0}}, "total_count": 1.0, "truncated": false}},
		{"one file", args{"pattern": "(?i)RUN it", "path": "README.md"},
			args{"matches": []any{line("README.md", 1, "Run it: run(1)")}, "total_count": 1.0, "truncated": false}},
		{"what Perl abbreviates", args{"pattern": `(?:run|walk)\(\d[\d)]`},
			args{"matches": []any{line("README.md", 1, "Run it: run(1)")}, "total_count": 1.0, "truncated": false}},
		{"hidden files by glob, secrets left out", args{"pattern": "run", "file_glob": "{.env,.github/*.yml}"},
			args{"matches": []any{line(".github/ci.yml", 1, "run: go")}, "total_count": 1.0, "truncated": false, "_omitted": "1 file that may not be read was not searched"}},
		{"files by glob", args{"pattern": "*.go", "target": "files"},
			args{"files": []any{"main.go", "pkg/run.go", "pkg/run_test.go"}, "total_count": 3.0, "truncated": false}},
		{"files by a word", args{"pattern": "readme", "target": "find"}, args{"files": []any{"README.md"}, "total_count": 1.0, "truncated": false}},
		{"files by path", args{"pattern": "pkg/**", "target": "files", "limit": 1},
			args{"files": []any{"pkg/run.go"}, "total_count": 2.0, "truncated": true, "next_offset": 1.0}},
		{"no expression is taken as text", args{"pattern": "run(", "path": "pkg"},
			args{"matches": []any{line("pkg/run.go", 3, "func run() {}")}, "total_count": 1.0, "truncated": false, "note": "the pattern is not a valid regular expression and was searched as plain text"}},
	}
	for _, tt := range tests {
		t.Run("here/"+tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, searchWorld(t, true).ok("search_files", tt.args)); diff != "" {
				t.Error(diff)
			}
		})
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("behind commands/plain=%v/%s", plain, tt.name), func(t *testing.T) {
				t.Parallel()
				w := searchWorld(t, false)
				w.env.plain = plain
				got := w.ok("search_files", tt.args)
				if diff := cmp.Diff(unordered(tt.want), unordered(got)); diff != "" {
					t.Error(diff)
				}
			})
		}
		t.Run("behind busybox/"+tt.name, func(t *testing.T) {
			t.Parallel()
			w := searchWorld(t, false)
			w.env.programs = mustBusybox(t)
			got := w.ok("search_files", tt.args)
			if diff := cmp.Diff(unordered(tt.want), unordered(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// mustBusybox returns a folder with the programs of busybox, or skips the test where it is missing.
func mustBusybox(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("busybox")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"sh", "find", "grep", "awk", "sort"} {
		must(t, os.Symlink(program, filepath.Join(dir, name)))
	}
	return dir
}

// unordered returns what does not depend on the order of the disk: the items of
// a whole list, only the count of a page.
func unordered(result args) args {
	out := args{"total_count": result["total_count"], "truncated": result["truncated"], "_omitted": result["_omitted"]}
	if result["truncated"] == true {
		return out
	}
	for _, key := range []string{"matches", "files", "counts"} {
		var items []string
		list, _ := result[key].([]any)
		for _, item := range list {
			items = append(items, fmt.Sprint(item))
		}
		slices.Sort(items)
		out[key] = items
	}
	return out
}

func line(path string, n int, text string) args {
	return args{"path": path, "line": float64(n), "content": text}
}

func TestSearchContext(t *testing.T) {
	t.Parallel()
	w := searchWorld(t, true)
	got := w.ok("search_files", args{"pattern": "func main", "context": 1})
	want := []any{line("main.go", 3, "2-\n3:func main() {\n4-\trun()")}
	if diff := cmp.Diff(want, got["matches"]); diff != "" {
		t.Error(diff)
	}
}

func TestSearchRefusesAndHints(t *testing.T) {
	t.Parallel()
	w := searchWorld(t, true)
	w.refused("search_files", args{"pattern": "x", "path": "pgk"}, "not found")
	w.refused("search_files", args{"pattern": ""}, "pattern is empty")
	w.refused("search_files", args{"pattern": "(?=x)"}, "not supported")
	w.refused("search_files", args{"pattern": "x", "path": ".env"}, "credentials")
	if got := w.ok("search_files", args{"pattern": "no such text"}); !strings.Contains(got["note"].(string), "nothing found") || got["total_count"] != 0.0 {
		t.Errorf("an empty search is a result with a hint: %v", got)
	}
	if got := w.ok("search_files", args{"pattern": "", "target": "files"}); got["total_count"] != 4.0 {
		t.Errorf("an empty name lists all: %v", got)
	}
}

func TestSearchGoesInCircles(t *testing.T) {
	t.Parallel()
	w := searchWorld(t, true)
	same := args{"pattern": "run"}
	for range 2 {
		if got := w.ok("search_files", same); got["_warning"] != nil {
			t.Fatal(got)
		}
	}
	if got := w.ok("search_files", same); got["_warning"] == nil {
		t.Errorf("the third identical search warns: %v", got)
	}
	w.refused("search_files", same, "BLOCKED")
	w.refused("search_files", same, "BLOCKED")
	w.ok("search_files", args{"pattern": "run", "offset": 1})
	w.ok("search_files", same)
}

func TestSearchPageIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("big.txt", strings.Repeat("needle "+strings.Repeat("x", 400)+"\n", 500))
	got := w.ok("search_files", args{"pattern": "needle", "limit": 500})
	matches := got["matches"].([]any)
	if len(matches) > 120 || got["truncated"] != true || got["next_offset"] != float64(len(matches)) || got["total_count"] != 500.0 {
		t.Errorf("%d matches, next %v, total %v", len(matches), got["next_offset"], got["total_count"])
	}
}
