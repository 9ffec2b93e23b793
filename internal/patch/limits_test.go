package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/patch"
)

// TestManyFailedHunksAreNotAllReported: a hopeless patch ends early and says so.
func TestManyFailedHunksAreNotAllReported(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("*** Update File: a\n")
	for i := range 15 {
		fmt.Fprintf(&b, "@@\n-nothing like it %d\n+x\n", i)
	}
	p, err := patch.Parse(wrap(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Apply(reader(map[string]string{"a": "1\n2\n"}))
	if err == nil || strings.Count(err.Error(), "was not found") != 10 || !strings.Contains(err.Error(), "the other 5 hunks of this file were not checked") {
		t.Errorf("got %v", err)
	}
}

// TestSimilarTextIsOnlyLookedForInReason: past a bound on the work, similar text is
// not looked for, so that no edit takes minutes.
func TestSimilarTextIsOnlyLookedForInReason(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("some words of one long line ", 2500)
	old := "begin the block\n" + long + "\nthe middle of it all\nend the block"
	have := strings.Replace(old, "middle of it", "middle of them", 1)
	for size, found := range map[int]bool{100_000: true, 600_000: false} {
		text := strings.Repeat("filler\n", size/7) + have + "\n"
		got, err := patch.Replace(text, old, "x", false)
		if (err == nil) != found {
			t.Errorf("in %d bytes: %q, %v", size, got.Strategy, err)
		}
	}
}

// TestManyInexactPlacesAreRefused: each of them would be written in its own form.
func TestManyInexactPlacesAreRefused(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{10_000: true, 10_001: false} {
		got, err := patch.Replace(strings.Repeat("a  b\n", n), "a b", "c", true)
		if (err == nil) != want || err == nil && got.Count != n {
			t.Errorf("%d places: %d replaced, %v", n, got.Count, err)
		}
	}
}

// TestACutDiffShowsNoFalseChange: where both texts are cut, lines that only one of
// them still has are not shown as changed.
func TestACutDiffShowsNoFalseChange(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	got := patch.Unified("a", "b", b.String()+"old\n", "first\nsecond\n"+b.String()+"new\n")
	want := "--- a\n+++ b\n@@ -1,3 +1,5 @@\n+first\n+second\n line 0\n line 1\n line 2\n\\ More changes follow that are not shown\n"
	if got != want {
		t.Errorf("got %.300q, want %q", got, want)
	}
}

// TestDidYouMeanInABigFile: the similar line may be far from the beginning.
func TestDidYouMeanInABigFile(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("filler\n", 1<<20) + "func computeEverything(a, b int) {\n" + strings.Repeat("filler\n", 1<<20)
	_, err := patch.Replace(text, "func computeEverything(a, b, c int) error {", "x", false)
	if err == nil || !strings.Contains(err.Error(), "1048577| func computeEverything(a, b int) {") {
		t.Errorf("got %v", err)
	}
}
