package file_test

import (
	"runtime"
	"strings"
	"testing"
)

// TestPatchOfABigFileIsBounded must not run in parallel: it measures what the
// whole process allocates for one call, whether it fails or works.
func TestPatchOfABigFileIsBounded(t *testing.T) {
	const size = 16 << 20
	w := newWorld(t)
	w.put("big.log", strings.Repeat("a short line of a log\n", size/22)+"the end\n")
	for _, c := range []struct {
		name string
		args args
		want string // in the error, "" for a call that works
	}{
		{"not found", args{"path": "big.log", "old_string": "one line\nthat is not there", "new_string": "x"}, "was not found"},
		{"ambiguous", args{"path": "big.log", "old_string": "short", "new_string": "x"}, "places"},
		{"V4A, not found", args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: big.log\n@@ nowhere\n one line\n-that is not there\n+x\n*** End Patch\n"}, "no file was changed"},
		{"exact", args{"path": "big.log", "old_string": "the end", "new_string": "The end"}, ""},
		{"inexact", args{"path": "big.log", "old_string": "The  end", "new_string": "The end."}, ""},
		{"V4A, moved", args{"mode": "patch", "patch": "*** Begin Patch\n*** Move File: big.log -> huge.log\n*** End Patch\n"}, ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, text, err := w.run("patch", c.args)
		runtime.ReadMemStats(&after)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %s, %v, want an error with %q", c.name, text, err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 4*size+8<<20 {
			t.Errorf("%s: %d MB allocated for a file of %d MB", c.name, used>>20, size>>20)
		}
	}
}
