package patch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hermes/internal/patch"
)

func TestMergeKeepsTheChangesOfBothSides(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, base, ours, theirs, want string }{
		{"nothing", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n"},
		{"ours only", "a\nb\n", "a\nX\n", "a\nb\n", "a\nX\n"},
		{"theirs only", "a\nb\n", "a\nb\n", "Y\nb\n", "Y\nb\n"},
		{"both", "a\nb\nc\n", "X\nb\nc\n", "a\nb\nZ\n", "X\nb\nZ\n"},
		{"the same", "a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n"},
		{"added and removed", "a\nb\nc\nd\n", "new\na\nb\nc\nd\n", "a\nb\nd\n", "new\na\nb\nd\n"},
		{"no line break at the end", "a\nb\nc", "a\nb\nC", "A\nb\nc", "A\nb\nC"},
		{"line breaks of Windows", "a\r\nb\r\nc\r\n", "X\r\nb\r\nc\r\n", "a\r\nb\r\nZ\r\n", "X\r\nb\r\nZ\r\n"},
		{"emptied by us", "a\n", "", "a\n", ""},
		{"same line", "a\n", "x\n", "y\n", "conflict"},
		{"neighbours", "a\nb\n", "x\nb\n", "a\ny\n", "conflict"},
		{"two additions at one place", "a\n", "a\nx\n", "a\ny\n", "conflict"},
		{"changed and removed", "a\nb\nc\n", "a\nX\nc\n", "a\n", "conflict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, sides := range [][2]string{{tt.ours, tt.theirs}, {tt.theirs, tt.ours}} {
				got, ok := patch.Merge(tt.base, sides[0], sides[1])
				if !ok {
					got = "conflict"
				}
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// TestMergeOfDistantEditsIsBothEdits makes edits of which the result is known: each side
// changes lines of its own with an unchanged line between.
func TestMergeOfDistantEditsIsBothEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var base, ours, theirs, want strings.Builder
		for i := range 30 {
			line, edit := fmt.Sprintf("line %d\n", i), ""
			if r.IntN(3) > 0 {
				edit = fmt.Sprintf("edit %d\n", r.IntN(5))
			}
			base.WriteString(line)
			switch {
			case i%4 == 0 && r.IntN(2) == 0:
				ours.WriteString(edit)
				theirs.WriteString(line)
				want.WriteString(edit)
			case i%4 == 2 && r.IntN(2) == 0:
				ours.WriteString(line)
				theirs.WriteString(edit)
				want.WriteString(edit)
			default:
				ours.WriteString(line)
				theirs.WriteString(line)
				want.WriteString(line)
			}
		}
		if got, ok := patch.Merge(base.String(), ours.String(), theirs.String()); !ok || got != want.String() {
			t.Fatalf("got %q, %v, want %q", got, ok, want.String())
		}
	}
}
