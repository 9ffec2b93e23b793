package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"hermes/internal/home"
	"hermes/internal/skill"
)

// fill puts n skills into a home, in twenty categories.
func fill(tb testing.TB, dir home.Dir, n int) {
	tb.Helper()
	for i := range n {
		name := fmt.Sprintf("skill-%03d", i)
		at := filepath.Join(dir.Skills(), fmt.Sprintf("cat-%02d", i%20), name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			tb.Fatal(err)
		}
		text := "---\nname: " + name + "\ndescription: Does the thing number " + name + " when someone asks for it\nmetadata:\n  hermes:\n    tags: [one, two]\n---\n" + strings.Repeat("A line of the body.\n", 60)
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// cold makes the index as a new process would.
func cold(tb testing.TB, dir home.Dir) {
	l := skill.New(skill.Config{Home: dir, Bundled: fstest.MapFS{}, OS: "linux"})
	if text, err := l.Index(tb.Context(), skill.Offer{}); err != nil || text == "" {
		tb.Fatal(err, text)
	}
}

// TestAStartWithManySkillsIsCheap checks what makes a cold start fast: nothing is
// parsed again, and there are few allocations for each skill, however many there
// are. BenchmarkIndexCold measures the time.
func TestAStartWithManySkillsIsCheap(t *testing.T) {
	few, many := home.At(filepath.Join(t.TempDir(), "h")), home.At(filepath.Join(t.TempDir(), "h"))
	fill(t, few, 100)
	fill(t, many, 1000)
	parsing := testing.AllocsPerRun(1, func() { // reads and parses all, and leaves the index
		if err := os.RemoveAll(many.Cache("skills")); err != nil {
			t.Fatal(err)
		}
		cold(t, many)
	}) / 1000
	cold(t, few)
	small := testing.AllocsPerRun(5, func() { cold(t, few) }) / 100
	large := testing.AllocsPerRun(5, func() { cold(t, many) }) / 1000
	if large > 10 || large > parsing/2 {
		t.Errorf("%.1f allocations for each skill, want at most 10; %.1f when all are parsed", large, parsing)
	}
	if large > 1.5*small {
		t.Errorf("%.1f allocations for each of 1,000 skills, %.1f for each of 100", large, small)
	}
}

// BenchmarkIndexCold is the index of 500 skills and the bundled ones in a new
// process.
func BenchmarkIndexCold(b *testing.B) {
	dir := home.At(filepath.Join(b.TempDir(), "h"))
	fill(b, dir, 500)
	for b.Loop() {
		l := skill.New(skill.Config{Home: dir, OS: "linux"})
		if text, err := l.Index(b.Context(), skill.Offer{}); err != nil || len(text) < 20_000 {
			b.Fatal(err, len(text))
		}
	}
}
