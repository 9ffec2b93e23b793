package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

func TestPatchReplace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.put("f.txt", "one\ntwo\nthree\n")
	got := w.ok("patch", args{"mode": "replace", "path": "f.txt", "old_string": "two", "new_string": "2"})
	want := args{"success": true, "replacements": 1.0, "files_modified": []any{path},
		"diff": "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := w.ok("patch", args{"path": "f.txt", "old_string": "one\n  2\n", "new_string": "1\n  2\n"}); got["strategy"] != "line-trimmed" {
		t.Errorf("a strategy that is not exact is reported: %v", got)
	}
	if got := w.ok("patch", args{"path": "f.txt", "old_string": "three", "new_string": ""}); w.has("f.txt") != "1\n2\n\n" {
		t.Errorf("an empty text deletes: %q %v", w.has("f.txt"), got)
	}
	w.put("f.txt", "return compute(2)\n")
	if got := w.ok("patch", args{"path": "f.txt", "old_string": "return calculate(everything, 2)", "new_string": "return compute(2)"}); !strings.Contains(got["note"].(string), "nothing to do") {
		t.Errorf("an edit that was already made is fine: %v", got)
	}
	w.put("bytes.txt", "caf\xe9\nkey: 1\n\xff\n")
	w.ok("patch", args{"path": "bytes.txt", "old_string": "key: 1", "new_string": "key: 2"})
	if got := w.has("bytes.txt"); got != "caf\xe9\nkey: 2\n\xff\n" {
		t.Errorf("other bytes are kept: %q", got)
	}
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f.txt", "a\na\n")
	w.put("blob", "a\x00b")
	w.put(".env", "A=1\n")
	tests := []struct {
		args args
		want string
	}{
		{args{"old_string": "a", "new_string": "b"}, "path is missing"},
		{args{"path": "f.txt", "new_string": "b"}, "old_string is missing"},
		{args{"path": "f.txt", "old_string": "a"}, "new_string is missing"},
		{args{"path": "f.txt", "old_string": "", "new_string": "b"}, "is empty"},
		{args{"path": "f.txt", "old_string": "a", "new_string": "b"}, "matches 2 places"},
		{args{"path": "f.txt", "old_string": "zzz", "new_string": "b"}, "not found"},
		{args{"path": "g.txt", "old_string": "a", "new_string": "b"}, "Similar files"},
		{args{"path": "blob", "old_string": "a", "new_string": "b"}, "binary"},
		{args{"path": ".env", "old_string": "1", "new_string": "2"}, "environment files"},
		{args{"mode": "rewrite", "path": "f.txt"}, "mode"},
		{args{"mode": "patch"}, "patch is empty"},
		{args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: f.txt\n-a\n+b\n"}, "cut short"},
		{args{"mode": "patch", "patch": "*** Begin Patch\n*** Add File: .git/hooks/x\n+b\n*** End Patch"}, "hooks"},
		{args{"mode": "patch", "patch": "*** Begin Patch\n*** Add File: new.txt\n+b\n*** Update File: f.txt\n-nowhere to be seen\n+b\n*** End Patch"}, "no file was changed"},
	}
	for _, tt := range tests {
		w.refused("patch", tt.args, tt.want)
	}
	if w.has("f.txt") != "a\na\n" || w.has("new.txt") != "<missing>" || w.has(".env") != "A=1\n" {
		t.Error("something was written")
	}
}

const wholePatch = "*** Begin Patch\n*** Update File: a.txt\n-1\n+one\n*** Add File: d/new.txt\n+n\n*** Delete File: b.txt\n*** Move File: c.txt -> d/c.txt\n*** End Patch\n"

func TestPatchWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.put("a.txt", "1\n2\n"), w.put("b.txt", "b\n"), w.put("c.txt", "c\n")
	got := w.ok("patch", args{"mode": "patch", "patch": wholePatch})
	want := args{
		"files_modified": []any{a}, "files_created": []any{w.path("d/new.txt"), w.path("d/c.txt")}, "files_deleted": []any{b, c},
	}
	for key, list := range want {
		if diff := cmp.Diff(list, got[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	for name, text := range map[string]string{"a.txt": "one\n2\n", "b.txt": "<missing>", "c.txt": "<missing>", "d/new.txt": "n\n", "d/c.txt": "c\n"} {
		if w.has(name) != text {
			t.Errorf("%s: %q, want %q", name, w.has(name), text)
		}
	}
}

func TestFailedPatchIsRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", "1\n2\n")
	w.put("b.txt", "b\n")
	w.put("c.txt", "c\n")
	w.env.fail = func(path string) error {
		if filepath.Base(path) == "c.txt" {
			return errBroken
		}
		return nil
	}
	w.refused("patch", args{"mode": "patch", "patch": wholePatch}, "every file is as it was before")
	for name, text := range map[string]string{"a.txt": "1\n2\n", "b.txt": "b\n", "c.txt": "c\n", "d/new.txt": "<missing>", "d/c.txt": "<missing>"} {
		if w.has(name) != text {
			t.Errorf("%s: %q, want %q", name, w.has(name), text)
		}
	}
}

func TestPatchPaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := w.tool("patch").Spec()
	if spec.Mode != hermes.ModePaths {
		t.Error("patches run in parallel unless paths overlap")
	}
	if got := spec.Paths(w.call("patch", args{"patch": wholePatch}).Arguments); !slices.Equal(got, []string{"a.txt", "d/new.txt", "b.txt", "c.txt", "d/c.txt"}) {
		t.Errorf("got %v", got)
	}
	if got := spec.Paths(w.call("patch", args{"path": "x", "old_string": "a", "new_string": "b"}).Arguments); !slices.Equal(got, []string{"x"}) {
		t.Errorf("got %v", got)
	}
}

func TestPatchThroughLinkKeepsTheLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("real.txt", "a\n")
	must(t, os.Symlink("real.txt", w.path("link.txt")))
	w.ok("patch", args{"path": "link.txt", "old_string": "a", "new_string": "b"})
	if info, err := os.Lstat(w.path("link.txt")); err != nil || info.Mode()&os.ModeSymlink == 0 || w.has("real.txt") != "b\n" {
		t.Errorf("the link is gone or its file unchanged: %v %v", info, err)
	}
}

// TestPatchSaysWhatItSkips: a hunk that was made before is named, and one whose
// new text only happens to be somewhere in the file is an error.
func TestPatchSaysWhatItSkips(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const done = "func f() {\n\treturn compute(2)\n}\n\nfunc g() {\n\treturn 1\n}\n"
	w.put("f.go", done)
	first := "*** Begin Patch\n*** Update File: f.go\n func f() {\n-\treturn compute(1)\n+\treturn compute(2)\n }\n"
	got := w.ok("patch", args{"mode": "patch", "patch": first + "@@\n func g() {\n-\treturn 1\n+\treturn 3\n*** End Patch"})
	if note, _ := got["note"].(string); !strings.Contains(note, "hunk 1") || !strings.Contains(note, "f.go") || !strings.Contains(note, "line 1") {
		t.Errorf("the note does not name the skipped hunk: %v", got)
	}
	if want := strings.Replace(done, "return 1", "return 3", 1); w.has("f.go") != want {
		t.Errorf("got %q", w.has("f.go"))
	}
	got = w.ok("patch", args{"mode": "patch", "patch": first + "*** End Patch"})
	if note, _ := got["note"].(string); !strings.Contains(note, "hunk 1") || !strings.Contains(note, "nothing to do") {
		t.Errorf("a patch that was applied before: %v", got)
	}
	w.refused("patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: f.go\n-\treturn calculate(other)\n+\treturn compute(2)\n*** End Patch"}, "line 2")
	w.refused("patch", args{"mode": "patch", "patch": first + "*** End Patch\n*** Update File: f.go\n-x\n+y\n*** End Patch"}, "after *** End Patch")
}
