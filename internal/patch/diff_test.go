package patch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/patch"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new, want string }{
		{"equal", "a\n", "a\n", ""},
		{"one line in context", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
			"--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"two hunks", "x\n" + strings.Repeat("=\n", 9) + "y\n", "X\n" + strings.Repeat("=\n", 9) + "Y\n",
			"--- a\n+++ b\n@@ -1,4 +1,4 @@\n-x\n+X\n =\n =\n =\n@@ -8,4 +8,4 @@\n =\n =\n =\n-y\n+Y\n"},
		{"a new file", "", "a\nb\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"an emptied file", "a\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n"},
		{"final line break", "a\nb", "a\nb\n", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"moved lines", "a\nb\nc\n", "b\nc\na\n", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n-a\n b\n c\n+a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, patch.Unified("a", "b", tt.old, tt.new)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnifiedIsBounded(t *testing.T) {
	t.Parallel()
	compare := func(lines int) time.Duration {
		var old, new strings.Builder
		for i := range lines {
			fmt.Fprintf(&old, "old %d\n", i)
			fmt.Fprintf(&new, "new %d\n", i*7)
		}
		begin := time.Now()
		if patch.Unified("a", "b", old.String(), new.String()) == "" {
			t.Error("no difference found")
		}
		return time.Since(begin)
	}
	// Both in the same run, the best of a few: 16 times the lines would take
	// 256 times as long if every line were compared with every other.
	small, large := time.Hour, time.Hour
	for range 2 {
		small, large = min(small, compare(2_500)), min(large, compare(40_000))
	}
	if large > 100*small {
		t.Errorf("40000 unrelated lines took %v, 2500 took %v", large, small)
	}
	t.Logf("40000 lines %v, 2500 lines %v", large, small)
}

func BenchmarkUnified20kLines400Edits(b *testing.B) {
	old := make([]string, 20_000)
	for i := range old {
		old[i] = fmt.Sprintf("line number %d of the file", i)
	}
	new := append([]string(nil), old...)
	for i := range 400 {
		new[i*50] = fmt.Sprintf("changed %d", i)
	}
	was, is := strings.Join(old, "\n"), strings.Join(new, "\n")
	for b.Loop() {
		patch.Unified("a", "b", was, is)
	}
}

func BenchmarkReplaceMiss(b *testing.B) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "\tvalue%d := compute(%d, other)\n", i, i*3)
	}
	for b.Loop() {
		if _, err := patch.Replace(text.String(), "nothing like it\nstands in here\nat all anywhere", "x", false); err == nil {
			b.Fatal("found")
		}
	}
}
