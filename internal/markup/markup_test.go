package markup_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/markup"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func mustRead(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(mustRead(t, name), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRenderMatchesTheGoldens(t *testing.T) {
	t.Parallel()
	src := mustRead(t, "tour.md")
	for name, o := range map[string]markup.Options{
		"tour.40.plain":   {Width: 40, Plain: true},
		"tour.80.ansi":    {Width: 80},
		"tour.120.ansi":   {Width: 120},
		"tour.60.nocolor": {Width: 60, NoColor: true},
	} {
		got := strings.Join(markup.Render(src, o), "\n") + "\n"
		golden(t, name+".golden", strings.ReplaceAll(got, "\x1b", "\\e"))
	}
}

func TestProseNeverExceedsTheWidth(t *testing.T) {
	t.Parallel()
	src := mustRead(t, "tour.md")
	for width := 20; width < 130; width++ {
		for _, line := range markup.Render(src, markup.Options{Width: width}) {
			// Code is not wrapped and is indented; its longest line here has 20 cells.
			if w := markup.Width(line); w > max(width, 26) {
				t.Errorf("width %d: a line takes %d cells: %q", width, w, line)
			}
		}
	}
}

func TestPiecesMakeNoDifference(t *testing.T) {
	t.Parallel()
	src := mustRead(t, "tour.md")
	o := markup.Options{Width: 60}
	want := markup.Render(src, o)
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := markup.NewStream(o)
		var got []string
		for rest := src; rest != ""; {
			n := min(1+random.IntN(9), len(rest))
			got = append(got, s.Write(rest[:n])...)
			s.Tail()
			rest = rest[n:]
		}
		got = append(got, s.Close()...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func TestTailShowsWhatCloseWouldPrint(t *testing.T) {
	t.Parallel()
	src := mustRead(t, "tour.md")
	s := markup.NewStream(markup.Options{Width: 50})
	for i := range len(src) {
		s.Write(src[i : i+1])
		if i%7 != 0 {
			continue
		}
		done := markup.NewStream(markup.Options{Width: 50})
		head := done.Write(src[:i+1])
		_ = head
		if diff := cmp.Diff(done.Close(), s.Tail()); diff != "" {
			t.Fatalf("after %d bytes (-close +tail):\n%s", i+1, diff)
		}
	}
}

func TestFinishedBlocksArePrintedAtOnce(t *testing.T) {
	t.Parallel()
	s := markup.NewStream(markup.Options{Width: 60, Plain: true})
	for _, step := range []struct {
		piece string
		want  []string
	}{
		{"# Ti", nil},
		{"tle\n", []string{"# Title"}},
		{"para\n", nil},
		{"\n", []string{"", "para"}},
		{"```go\nx := 1\n", []string{"", "  x := 1"}},
		{"y := 2\n", []string{"  y := 2"}},
		{"```\n- a\n", nil},
		{"- b\n", []string{"", "- a"}},
		{"\nend\n\n", []string{"- b", "", "end"}},
	} {
		if diff := cmp.Diff(step.want, s.Write(step.piece)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", step.piece, diff)
		}
	}
}

func TestLongParagraphIsPrintedInPartsAndComplete(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	for i := range 4000 {
		src.WriteString([]string{"word ", "**bold** ", "`co de` ", "中文字 "}[i%4])
	}
	o := markup.Options{Width: 60, Plain: true}
	s := markup.NewStream(o)
	var got []string
	for r := range strings.SplitAfterSeq(src.String(), " ") {
		got = append(got, s.Write(r)...)
		if tail := len(strings.Join(s.Tail(), "")); tail > 8<<10 {
			t.Fatalf("the open end holds %d bytes", tail)
		}
	}
	early := len(got)
	got = append(got, s.Close()...)
	if early == 0 {
		t.Error("nothing was printed before the end")
	}
	text := strings.Join(got, " ")
	for word, want := range map[string]int{"word": 1000, "bold": 1000, "`co": 1000} {
		if n := strings.Count(text, word); n != want {
			t.Errorf("%q appears %d times, want %d", word, n, want)
		}
	}
	for i, line := range got[:len(got)-1] {
		if w := markup.Width(line); w < 45 || w > 60 {
			t.Fatalf("line %d takes %d cells: %q", i, w, line)
		}
	}
}

func TestControlSequencesNeverReachTheTerminal(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"text \x1b[2J clear", "`code \x1b]0;title\x07`", "```\n\x1b[31mred\n```", "| a |\n|---|\n| \x1b[1m |",
		"# \x9b31m", "[x](http://a/\x1b[0m)", "<b\x1b[0m>", "    in\x1bdented", "\u009b31m", "a\u202eb", "one\rtwo",
	} {
		for _, line := range markup.Render(src, markup.Options{Width: 60, Plain: true}) {
			for _, r := range line {
				if unicode.IsControl(r) || r == 0x202e || r == utf8.RuneError {
					if r == utf8.RuneError && strings.Contains(line, "\uFFFD") {
						continue
					}
					t.Errorf("%q gave %q", src, line)
				}
			}
		}
	}
}

// TestVisibleShowsBlanksThatAreNone has characters that look like a blank or like
// nothing, and that no shell splits words at.
func TestVisibleShowsBlanksThatAreNone(t *testing.T) {
	t.Parallel()
	for _, r := range "\u00a0\u1680\u2000\u2009\u202f\u205f\u3000\u2800\u3164\uffa0\u115f\u034f\u17b4\u180b\U000e0101" {
		if got, want := markup.Visible("rm a"+string(r)+"b"), fmt.Sprintf("rm a<U+%04X>b", r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ls -la":           "ls -la",
		"a\x1b[31mb":       "a␛[31mb",
		"rm \u202egpj.exe": "rm <U+202E>gpj.exe",
		"a\u200bb":         "a<U+200B>b",
		"tab\tand\nline":   "tab\tand\nline",
		"bell\x07\x7f":     "bell␇␡",
		"bad\xffbyte":      "bad<ff>byte",
		"汉字 ok":            "汉字 ok",
		"no\u00a0break":    "no<U+00A0>break",
		"\u2066iso\u2069":  "<U+2066>iso<U+2069>",
		"cr\rover":         "cr␍over",
		"\u0085next":       "<U+0085>next",
	} {
		if got := markup.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWidthClipFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "abc": 3, "汉字": 4, "é": 1, "e\u0301": 1, "❤️": 2, "\x1b[1mab\x1b[0m": 2, "a\x07\r\n": 1, "\xff": 1,
		"☝🏽": 3, "👍🏽": 4, "🇩🇪": 4, "👩\u200d👧": 4, "❤️\u200d🔥": 4, "1️⃣": 2, // drawn apart by some terminals
		"\u1112\u1161\u11ab": 2, "कि": 1, "क्\u200dष": 2, "กำ": 2,
	} {
		if got := markup.Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abcdef", 4, "abc…"}, {"abcd", 4, "abcd"}, {"汉字汉字", 5, "汉字…"}, {"汉字汉字", 4, "汉…"}, {"abc", 0, ""}} {
		if got := markup.Clip(c.text, c.width); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
	want := []string{"\x1b[31mabc\x1b[0m", "\x1b[31mdef\x1b[0m", "\x1b[31mg\x1b[0m"}
	if diff := cmp.Diff(want, markup.Fold("\x1b[31mabcdefg\x1b[0m", 3)); diff != "" {
		t.Errorf("Fold (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"汉", "字x"}, markup.Fold("汉字x", 3)); diff != "" {
		t.Errorf("Fold (-want +got):\n%s", diff)
	}
}

func TestDiffIsColouredAndBounded(t *testing.T) {
	t.Parallel()
	diff := "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new \x1b[2J\n same\n"
	got := markup.Diff(diff, 5, markup.Options{Width: 20})
	want := []string{
		"\x1b[90m--- a/x\x1b[0m", "\x1b[90m+++ b/x\x1b[0m", "\x1b[36m@@ -1 +1 @@\x1b[0m",
		"\x1b[31m-old\x1b[0m", "\x1b[32m+new ␛[2J\x1b[0m", "\x1b[90m… 1 more lines\x1b[0m",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The cost of 100 KB in single bytes must be linear.
func TestManyPiecesAreCheap(t *testing.T) {
	write := func(words int) time.Duration {
		src := strings.Repeat("word and ", words)
		start := time.Now()
		s := markup.NewStream(markup.Options{Width: 80})
		for i := range len(src) {
			s.Write(src[i : i+1])
		}
		s.Close()
		return time.Since(start)
	}
	// Both in the same run, the best of a few: 32 times the text would take 1000
	// times as long if each piece cost as much as all text before it.
	small, large := time.Hour, time.Hour
	for range 3 {
		small, large = min(small, write(375)), min(large, write(12000))
	}
	if large > 200*small {
		t.Errorf("12000 words took %v, 375 took %v", large, small)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(mustRead(f, "tour.md"), uint64(1))
	f.Add("- a\n\n  b\n1) c\n> q\n\n| a | b |\n|-|-|\n| 1 |", uint64(2))
	f.Add("```\n~~~\n- ```\n  x\n", uint64(3))
	f.Add("汉\xff\x1b[0m\t\r\n\r\n===\n***\n", uint64(4))
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		o := markup.Options{Width: int(seed%100) + 1}
		want := markup.Render(src, o)
		s := markup.NewStream(o)
		random := rand.New(rand.NewPCG(seed, 2))
		var got []string
		for rest := src; rest != ""; {
			n := min(1+random.IntN(30), len(rest))
			got = append(got, s.Write(rest[:n])...)
			rest = rest[n:]
		}
		got = append(got, s.Close()...)
		if len(src) < 250 { // longer paragraphs are printed in parts
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-whole +pieces):\n%s", diff)
			}
		}
		for _, line := range markup.Render(src, markup.Options{Plain: true}) {
			if strings.ContainsAny(line, "\n\r\x1b\x07") {
				t.Fatalf("control character in %q", line)
			}
		}
	})
}

func FuzzMeasure(f *testing.F) {
	f.Add("a\x1b[31mb汉👨\u200d👩c\x1b[0m", 3)
	f.Add("\x1b[", 1)
	f.Add("\xff\u200d\n🇩🇪🇩", 2)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 2 + width&0x3f
		if got := markup.Width(markup.Clip(text, width)); got > width {
			t.Fatalf("Clip gave %d cells of %d", got, width)
		}
		folded := markup.Fold(text, width)
		for _, row := range folded {
			if got := markup.Width(row); got > max(width, 20) { // one joined emoji may be wider
				t.Fatalf("Fold gave %d cells of %d: %q", got, width, row)
			}
		}
		if !strings.Contains(text, "\x1b") {
			if got := strings.Join(folded, ""); got != text {
				t.Fatalf("Fold made %q", got)
			}
		}
		markup.Visible(text)
	})
}

func BenchmarkRender(b *testing.B) {
	src := mustRead(b, "tour.md")
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		markup.Render(src, markup.Options{Width: 80})
	}
}

// BenchmarkStream20000 is an answer in 20,000 pieces. Its open end is drawn every
// hundredth time, like a screen at thirty frames a second.
func BenchmarkStream20000(b *testing.B) {
	src := strings.Repeat(mustRead(b, "tour.md"), 80)
	piece := len(src)/20000 + 1
	for b.Loop() {
		s := markup.NewStream(markup.Options{Width: 80})
		i := 0
		for rest := src; rest != ""; i++ {
			n := min(piece, len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
			if i%100 == 0 {
				s.Tail()
			}
		}
		s.Close()
	}
}
