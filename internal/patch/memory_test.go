package patch_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes/internal/patch"
	"hermes/internal/race"
)

// A bigFile is a file whose shape is hard on a search.
type bigFile struct{ name, text string }

// bigFiles returns files of about size bytes.
func bigFiles(size int) []bigFile {
	fill := func(line string) string { return strings.Repeat(line, size/len(line)) }
	var log strings.Builder
	for i := 0; log.Len() < size; i++ {
		fmt.Fprintf(&log, "2026-03-%02d %08x INFO  request %d handled in %d ms\n", i%28+1, i*2654435761%(1<<32), i, i%977)
	}
	var count strings.Builder
	for i := 0; count.Len() < size; i++ {
		fmt.Fprintf(&count, "%x\n", i)
	}
	return []bigFile{
		{"short lines that all differ", count.String()},
		{"log", log.String()},
		{"short lines", fill("x\n")},
		{"blank lines", fill("\n")},
		{"blank lines with CRLF", fill("\r\n")},
		{"one line", fill("var a=1;")},
		{"one word", fill("a")},
		{"CRLF", fill("some line of text\r\n")},
		{"runs of blanks", fill("a  b \t c\n")},
		{"typography", fill("it’s “so” — and…\u00a0so on – yes\n")},
		{"bytes that are not UTF-8", fill("\xff\xfe\x80 a\n")},
	}
}

// allocated returns the bytes that fn allocates and the time it takes.
func allocated(fn func()) (int, time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	fn()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc), took
}

const (
	bigSize = 1 << 20
	// bigMemory bounds all that one edit allocates, as a multiple of the file's size.
	bigMemory = 4
	// bigSlack is the part that does not grow with the file.
	bigSlack = 3 << 20
)

func checkBig(t *testing.T, name string, size, slack int, fn func()) {
	t.Helper()
	bytes, took := allocated(fn)
	if limit := bigMemory*size + slack; bytes > limit {
		t.Errorf("%s: %.1f MB allocated for a file of %.1f MB, limit %.1f MB", name, mega(bytes), mega(size), mega(limit))
	}
	if took > time.Minute {
		t.Errorf("%s: took %v", name, took)
	}
}

func mega(n int) float64 { return float64(n) / (1 << 20) }

// TestFailingSearchIsBounded must not run in parallel: it measures the memory
// of the whole process.
func TestFailingSearchIsBounded(t *testing.T) {
	race.Skip(t)
	for _, f := range bigFiles(bigSize) {
		for _, old := range []string{
			"func handle(w Writer) {\n\trequest 17 handled in 99 ms\n\treturn some line of text never written\n}",
			"it's \"so\" -- and... so on - no",
			"a  b  c  d",
		} {
			checkBig(t, f.name, len(f.text), bigSlack, func() {
				if got, err := patch.Replace(f.text, old, "x", false); err == nil {
					t.Errorf("%s: %q was found: %s", f.name, old, got.Strategy)
				}
			})
		}
	}
}

// TestFailingPatchIsBounded is the same for the multi-file format.
func TestFailingPatchIsBounded(t *testing.T) {
	race.Skip(t)
	for _, f := range bigFiles(bigSize) {
		p, err := patch.Parse(wrap("*** Update File: a\n@@ handle\n func handle(w Writer) {\n-\trequest 17 handled in 99 ms\n+\tx\n return some line of text that was never written\n"))
		if err != nil {
			t.Fatal(err)
		}
		checkBig(t, f.name, len(f.text), bigSlack, func() {
			if _, err := p.Apply(reader(map[string]string{"a": f.text})); err == nil {
				t.Errorf("%s: the patch applies", f.name)
			}
		})
	}
}

// TestAmbiguousSearchIsBounded is about a passage that matches millions of times.
func TestAmbiguousSearchIsBounded(t *testing.T) {
	text := strings.Repeat("a", bigSize)
	for _, all := range []bool{false, true} {
		checkBig(t, "ambiguous", len(text), 4*bigSlack, func() {
			if _, err := patch.Replace(text, "a", "b", all); err == nil || !strings.Contains(err.Error(), "1048576 places") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSuccessIsBounded is about edits that work.
func TestSuccessIsBounded(t *testing.T) {
	race.Skip(t)
	for _, f := range bigFiles(bigSize) {
		text := f.text + "\nhere  it\tis: “one”\nlast line\n"
		for _, c := range []struct{ strategy, old string }{
			{"exact", "here  it\tis: “one”"},
			{"line-trimmed", "  here  it\tis: “one”\n  last line"},
			{"whitespace-normalised", "here it is: “one”"},
			{"unicode-normalised", "here  it\tis: \"one\""},
		} {
			checkBig(t, f.name+" "+c.strategy, len(text), bigSlack, func() {
				got, err := patch.Replace(text, c.old, strings.Replace(c.old, "one", "two", 1), false)
				if err != nil || got.Strategy != c.strategy || !strings.Contains(got.Text, "two") {
					t.Errorf("%s: got %s, %v", f.name, got.Strategy, err)
				}
			})
		}
		p, err := patch.Parse(wrap("*** Update File: a\n here  it\tis: “one”\n-last line\n+the last line\n"))
		if err != nil {
			t.Fatal(err)
		}
		checkBig(t, f.name+" V4A", len(text), bigSlack, func() {
			if _, err := p.Apply(reader(map[string]string{"a": text})); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
		})
	}
}

// TestDiffIsBounded is about what is shown of a change.
func TestDiffIsBounded(t *testing.T) {
	race.Skip(t)
	for _, f := range bigFiles(8 * bigSize) {
		for _, c := range []struct{ name, old, new string }{
			{"one end", f.text, f.text + "one\n"},
			{"both ends", f.text, "one\n" + f.text[1:] + "two\n"},
			{"everywhere", f.text, strings.NewReplacer("a", "A", "x", "X", "\n", "\n ").Replace(f.text)},
			{"added", "", f.text},
			{"removed", f.text, ""},
		} {
			checkBig(t, f.name+" "+c.name, len(f.text), 8*bigSlack, func() {
				if patch.Unified("a", "b", c.old, c.new) == "" {
					t.Errorf("%s %s: no difference", f.name, c.name)
				}
			})
		}
	}
}
