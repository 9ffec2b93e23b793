package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rowsOf(random *rand.Rand, width int) []string {
	rows := make([]string, 1+random.IntN(6))
	for i := range rows {
		word := []string{"x", "汉", "live "}[random.IntN(3)]
		rows[i] = strings.Repeat(word, random.IntN(max(width/6, 1)))
	}
	return rows
}

func TestScreenKeepsWhatIsPrintedAndShowsTheLastFrame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 3))
		v := newVT(40, 12)
		s := &screen{w: v, width: 40}
		var want []string
		var last frame
		above := 0 // rows of the printed lines
		for i := range 60 {
			var print []string
			for range random.IntN(20) / 4 {
				print = append(print, strings.TrimRight(fmt.Sprintf("%d: %s", i, strings.Repeat("word ", random.IntN(20))), " "))
			}
			rows := rowsOf(random, 40)
			last = frame{rows: rows, row: random.IntN(len(rows)), col: random.IntN(5)}
			if err := s.draw(print, last); err != nil {
				t.Fatal(err)
			}
			for _, p := range print {
				want = append(want, p)
				above += broken(p, 40)
			}
			all := strings.Join(append(append([]string(nil), want...), trimmed(last.rows)...), "\n")
			if diff := cmp.Diff(strings.TrimRight(all, "\n"), strings.TrimRight(v.text(), "\n")); diff != "" {
				t.Fatalf("seed %d, frame %d (-want +got):\n%s", seed, i, diff)
			}
			if got := v.row - above; got != last.row || v.col != last.col {
				t.Fatalf("seed %d, frame %d: cursor at %d, %d, want %d, %d", seed, i, got, v.col, last.row, last.col)
			}
		}
		if len(v.odd) > 0 {
			t.Fatalf("unknown sequences: %q", v.odd)
		}
	}
}

func trimmed(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = strings.TrimRight(r, " ")
	}
	return out
}

func TestResizeLeavesNoGhostsAndLosesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 4))
		v := newVT(80, 24)
		s := &screen{w: v, width: 80}
		var want []string
		for i := range 40 {
			width := 40 + random.IntN(80)
			print := []string{fmt.Sprintf("line %d", i)}
			want = append(want, print...)
			rows := rowsOf(random, s.width-1)
			f := frame{rows: rows, row: random.IntN(len(rows))}
			if err := s.draw(print, f); err != nil {
				t.Fatal(err)
			}
			v.resize(width, 24)
			if err := s.resize(width); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.draw(nil, frame{rows: []string{"end"}}); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(append(want, "end"), "\n") + "\n"
		if diff := cmp.Diff(all, strings.TrimRight(v.text(), "\n")+"\n"); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func TestStopGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	v := newVT(40, 10)
	s := &screen{w: v, width: 40}
	for _, err := range []error{s.start(), s.draw([]string{"printed"}, frame{rows: []string{"a", "b", "c"}, row: 1}), s.stop()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.TrimRight(v.text(), "\n"); got != "printed" {
		t.Errorf("left behind: %q", got)
	}
	if v.hidden || !v.modes["2004l"] || !v.modes["<u"] {
		t.Errorf("modes were not reset: %v", v.modes)
	}
	if v.row != 1 || v.col != 0 {
		t.Errorf("the cursor is at %d, %d", v.row, v.col)
	}
}

func TestUnchangedRowsAreNotWrittenAgain(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	s := &screen{w: &b, width: 80}
	if err := s.draw(nil, frame{rows: []string{"the same row", "tick 1", "input"}}); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := s.draw(nil, frame{rows: []string{"the same row", "tick 2", "input"}}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "same") || strings.Contains(got, "input") || !strings.Contains(got, "tick 2") {
		t.Errorf("wrote %q", got)
	}
}
