package patch_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/patch"
)

// TestMovesComeOutRight carries out random patches of moves, additions and
// deletions and compares the result with doing the sections one by one. A file's
// text names the file that it was at the start, so a text under the wrong name
// or in the wrong file shows.
func TestMovesComeOutRight(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d"}
	random := rand.New(rand.NewPCG(1, 2))
	applied := 0
	for range 20_000 {
		disk := map[string]string{"a": "of a\n", "b": "of b\n"}
		want := maps.Clone(disk)
		sections, ok := "", true
		for i := range 1 + random.IntN(5) {
			from, to := names[random.IntN(4)], names[random.IntN(4)]
			_, have := want[from]
			_, taken := want[to]
			switch random.IntN(4) {
			case 0:
				sections += fmt.Sprintf("*** Add File: %s\n+new %d\n", from, i)
				ok = ok && !have
				want[from] = fmt.Sprintf("new %d\n", i)
			case 1:
				sections += "*** Delete File: " + from + "\n"
				ok = ok && have
				delete(want, from)
			default:
				sections += "*** Move File: " + from + " -> " + to + "\n"
				ok = ok && have && !taken && from != to
				want[to] = want[from]
				delete(want, from)
			}
			if !ok {
				break
			}
		}
		p, err := patch.Parse(wrap(sections))
		if err != nil {
			t.Fatal(err)
		}
		done, err := p.Apply(reader(disk))
		if !ok {
			if err == nil {
				t.Fatalf("an impossible patch applies:\n%s", sections)
			}
			continue
		}
		if err != nil {
			if len(done.Changes)+len(done.Moves) > 0 {
				t.Fatalf("refused with an outcome:\n%s", sections)
			}
			continue // a swap
		}
		applied++
		carryOut(t, disk, done, sections)
		if diff := cmp.Diff(want, disk); diff != "" {
			t.Fatalf("%s%s", sections, diff)
		}
	}
	if applied < 1000 {
		t.Errorf("only %d patches applied", applied)
	}
}

// carryOut does what an outcome says, in the order that its comments promise.
func carryOut(t *testing.T, disk map[string]string, done patch.Outcome, sections string) {
	t.Helper()
	gone := map[string]bool{}
	for _, m := range done.Moves {
		text, ok := disk[m.From]
		if !ok {
			t.Fatalf("%s is renamed and not there:\n%s", m.From, sections)
		}
		delete(disk, m.From)
		disk[m.To] = text
		gone[m.From] = true
	}
	for _, c := range done.Changes {
		switch {
		case c.Exists && c.Action == patch.Move && disk[c.Path] != c.After:
			t.Fatalf("%s has %q after its move, want %q:\n%s", c.Path, disk[c.Path], c.After, sections)
		case c.Exists:
			disk[c.Path] = c.After
		case !gone[c.Path]:
			if _, ok := disk[c.Path]; !ok {
				t.Fatalf("%s is deleted and not there:\n%s", c.Path, sections)
			}
			delete(disk, c.Path)
		}
	}
}
