package patch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/patch"
)

// reader serves files from a map.
func reader(files map[string]string) func(string) (patch.File, error) {
	return func(path string) (patch.File, error) {
		text, ok := files[path]
		return patch.File{Text: text, Exists: ok}, nil
	}
}

func wrap(body string) string { return "*** Begin Patch\n" + body + "*** End Patch\n" }

// after applies a patch and returns the resulting files.
func after(t *testing.T, files map[string]string, text string) map[string]string {
	t.Helper()
	p, err := patch.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	done, err := p.Apply(reader(files))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for path, text := range files {
		out[path] = text
	}
	for _, c := range done.Changes {
		if c.Exists {
			out[c.Path] = c.After
		} else {
			delete(out, c.Path)
		}
	}
	return out
}

func TestApply(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("filler line\n", 30_000) + "needle\n" + strings.Repeat("x", 200_000) + "\n"
	tests := []struct {
		name  string
		files map[string]string
		patch string
		want  map[string]string
	}{
		{
			name:  "add, update, delete and move in one patch",
			files: map[string]string{"a": "1\n2\n3\n", "b": "gone\n", "c": "moved\n"},
			patch: wrap("*** Update File: a\n@@\n 1\n-2\n+two\n 3\n*** Add File: d/e\n+new\n+file\n*** Delete File: b\n*** Move File: c -> f\n"),
			want:  map[string]string{"a": "1\ntwo\n3\n", "d/e": "new\nfile\n", "f": "moved\n"},
		}, {
			name:  "the hint picks one of two places",
			files: map[string]string{"a": "def f():\n  x = 1\ndef g():\n  x = 1\n"},
			patch: wrap("*** Update File: a\n@@ def g(): @@\n-  x = 1\n+  x = 2\n"),
			want:  map[string]string{"a": "def f():\n  x = 1\ndef g():\n  x = 2\n"},
		}, {
			name:  "hints narrow from outside in",
			files: map[string]string{"a": "class A\n def f\n  x\nclass B\n def f\n  x\n"},
			patch: wrap("*** Update File: a\n@@ class B\n@@ def f\n-  x\n+  y\n"),
			want:  map[string]string{"a": "class A\n def f\n  x\nclass B\n def f\n  y\n"},
		}, {
			name:  "additions go below the hint",
			files: map[string]string{"a": "one\ntwo\nthree\n"},
			patch: wrap("*** Update File: a\n@@ two @@\n+2b\n"),
			want:  map[string]string{"a": "one\ntwo\n2b\nthree\n"},
		}, {
			name:  "additions without a hint go to the end",
			files: map[string]string{"a": "one\ntwo"},
			patch: wrap("*** Update File: a\n@@\n+three\n"),
			want:  map[string]string{"a": "one\ntwo\nthree"},
		}, {
			name:  "hunks come in the order of the file",
			files: map[string]string{"a": "x\na\nx\nb\nx\n"},
			patch: wrap("*** Update File: a\n a\n-x\n+1\n@@\n b\n-x\n+2\n"),
			want:  map[string]string{"a": "x\na\n1\nb\n2\n"},
		}, {
			name:  "of two places, the one below the hunk before",
			files: map[string]string{"a": "x\nm\nx\n"},
			patch: wrap("*** Update File: a\n-m\n+M\n@@\n-x\n+X\n"),
			want:  map[string]string{"a": "x\nM\nX\n"},
		}, {
			name:  "a hint above the hunk before, for lines below it",
			files: map[string]string{"a": "class A\n def f\n  x\n def g\n  y\n  z\n"},
			patch: wrap("*** Update File: a\n@@ class A\n-  x\n+  X\n@@ class A\n-  z\n+  Z\n"),
			want:  map[string]string{"a": "class A\n def f\n  X\n def g\n  y\n  Z\n"},
		}, {
			name:  "end of file picks the last place",
			files: map[string]string{"a": "x\ny\nx\n"},
			patch: wrap("*** Update File: a\n@@\n-x\n+z\n*** End of File\n"),
			want:  map[string]string{"a": "x\ny\nz\n"},
		}, {
			name:  "removed lines take their line breaks along",
			files: map[string]string{"a": "x\ny\nz\n"},
			patch: wrap("*** Update File: a\n-y\n"),
			want:  map[string]string{"a": "x\nz\n"},
		}, {
			name:  "a hunk fits whole lines only",
			files: map[string]string{"a": "prefix y\ny\n"},
			patch: wrap("*** Update File: a\n-y\n+Y\n"),
			want:  map[string]string{"a": "prefix y\nY\n"},
		}, {
			name:  "marks inside content are content",
			files: map[string]string{"a": "*** End Patch\n@@ x\nend\n"},
			patch: wrap("*** Update File: a\n *** End Patch\n-@@ x\n+*** Add File: q\n end\n*** Add File: b\n+*** End Patch\n+*** Begin Patch\n"),
			want:  map[string]string{"a": "*** End Patch\n*** Add File: q\nend\n", "b": "*** End Patch\n*** Begin Patch\n"},
		}, {
			name:  "long files and long lines are never cut",
			files: map[string]string{"a": long},
			patch: wrap("*** Update File: a\n-needle\n+thread\n"),
			want:  map[string]string{"a": strings.Replace(long, "needle", "thread", 1)},
		}, {
			name:  "adding what an earlier section deleted",
			files: map[string]string{"a": "old\n"},
			patch: wrap("*** Delete File: a\n*** Add File: a\n+new\n"),
			want:  map[string]string{"a": "new\n"},
		}, {
			name:  "an update that moves",
			files: map[string]string{"a": "x\n"},
			patch: wrap("*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n"),
			want:  map[string]string{"b": "y\n"},
		}, {
			name:  "context that lost its leading blank, a header with line numbers, a fence",
			files: map[string]string{"a": "one\n\ntwo\nthree\n"},
			patch: "```\n" + wrap("*** Update File: a\n@@ -1,4 +1,4 @@ one\none\n\n-two\n+2\n") + "```\n",
			want:  map[string]string{"a": "one\n\n2\nthree\n"},
		}, {
			name:  "line endings and byte order mark stay",
			files: map[string]string{"a": "\ufeffone\r\ntwo\r\n"},
			patch: wrap("*** Update File: a\n one\n-two\n+2\n+3\n"),
			want:  map[string]string{"a": "\ufeffone\r\n2\r\n3\r\n"},
		}, {
			name:  "a hunk applied before is no change",
			files: map[string]string{"a": "start\nreturn compute(2)\n"},
			patch: wrap("*** Update File: a\n start\n-return compute(with, old, arguments)\n+return compute(2)\n"),
			want:  map[string]string{"a": "start\nreturn compute(2)\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := after(t, tt.files, tt.patch)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestApplyRefusesWhole(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "1\n2\n", "b": "1\n1\n", "d": "start\nreturn compute(2)\nmore\nstop here\n", "c": "def f\n  x\ndef g\n  y\ndef h\n  x\n"}
	tests := []struct{ name, patch, want string }{
		{"one bad hunk", wrap("*** Update File: a\n-1\n+one\n*** Update File: b\n-9 is nowhere\n+x\n"), "no file was changed"},
		{"every failure is listed", wrap("*** Delete File: x\n*** Update File: b\n-9 is nowhere\n+x\n"), "update b"},
		{"adding onto an existing file", wrap("*** Add File: a\n+x\n"), "already exists"},
		{"updating a missing file", wrap("*** Update File: x\n-a\n+b\n"), "file not found"},
		{"moving onto an existing file", wrap("*** Move File: a -> b\n"), "already exists"},
		{"two places fit", wrap("*** Update File: b\n-1\n+x\n"), "match 2 places"},
		{"a hint that is nowhere", wrap("*** Update File: b\n@@ nope @@\n-1\n+x\n"), "is not in the file"},
		{"a hint above the hunk before, and lines on both sides of it", wrap("*** Update File: c\n@@ def g\n-  y\n+  Y\n@@ def f\n-  x\n+  X\n"), "match 2 places"},
		{"a change made before, above its hint", wrap("*** Update File: d\n@@ stop here\n start\n-return calculate(everything)\n+return compute(2)\n"), "was not found"},
		{"context of blank lines", wrap("*** Update File: a\n \n+x\n"), "only blank"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := patch.Parse(tt.patch)
			if err != nil {
				t.Fatal(err)
			}
			done, err := p.Apply(reader(files))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if done.Changes != nil || done.Notes != nil {
				t.Errorf("a refused patch gave %+v", done)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, patch, want string }{
		{"empty", "", "*** End Patch"},
		{"prose", "please change it", "expected"},
		{"no sections", wrap(""), "no sections"},
		{"cut short", "*** Begin Patch\n*** Update File: a\n-x\n+y\n", "cut short"},
		{"parent folders", wrap("*** Add File: ../x\n+a\n"), ".."},
		{"parent folders, inside", wrap("*** Delete File: a/../../x\n"), ".."},
		{"parent folders as a move's target", wrap("*** Move File: a -> ../b\n"), ".."},
		{"no path", wrap("*** Delete File:\n"), "path is missing"},
		{"a move without target", wrap("*** Move File: a\n"), "->"},
		{"an update without hunks", wrap("*** Update File: a\n"), "no hunks"},
		{"a hunk that changes nothing", wrap("*** Update File: a\n x\n"), "adds and removes nothing"},
		{"an added line without +", wrap("*** Add File: a\nx\n"), "begins with +"},
		{"an unknown mark", wrap("*** Rename File: a\n"), "Rename"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := patch.Parse(tt.patch); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestPathsIncludeTargets(t *testing.T) {
	t.Parallel()
	p, err := patch.Parse(wrap("*** Delete File: b\n*** Move File: a -> c\n*** Add File: b\n+x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, p.Paths()); diff != "" {
		t.Error(diff)
	}
}

func TestApplyReportsReadErrors(t *testing.T) {
	t.Parallel()
	p, err := patch.Parse(wrap("*** Delete File: b\n"))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("permission denied")
	if _, err := p.Apply(func(string) (patch.File, error) { return patch.File{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
