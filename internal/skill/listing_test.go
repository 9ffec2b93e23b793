package skill_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/skill"
)

// TestALongListDropsTheLeastUsed checks that descriptions go before names, and
// that the most used skills keep theirs longest.
func TestALongListDropsTheLeastUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for i := range 30 {
		r.put(fmt.Sprintf("cat%d/skill-%02d/SKILL.md", i%3, i), doc(fmt.Sprintf("skill-%02d", i), "Does a thing that takes a whole line to tell, ä", "body"))
	}
	for _, name := range []string{"skill-17", "skill-17", "skill-04"} {
		if err := r.Count(t.Context(), name, skill.Used); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.Listing(t.Context(), skill.Offer{})
	if err != nil {
		t.Fatal(err)
	}
	full := list.Text()
	if got := list.Within(len(full)); got != full {
		t.Errorf("shortened though it fits: %s", got)
	}
	described, names := 30, 30
	for most := utf8.RuneCountInString(full) - 1; most > 300; most -= 97 {
		got := list.Within(most)
		if got != list.Within(most) {
			t.Fatal("not the same twice")
		}
		d, n := strings.Count(got, ": Does a thing"), strings.Count(got, "skill-")
		if utf8.RuneCountInString(got) > most && n > 0 {
			t.Errorf("%d characters, at most %d", utf8.RuneCountInString(got), most)
		}
		if d > described || n > names || d > 0 && n < 30 {
			t.Errorf("at %d: %d described and %d named after %d and %d", most, d, n, described, names)
		}
		described, names = d, n
		if d > 0 && !strings.Contains(got, "- skill-17: Does") || d > 1 && !strings.Contains(got, "- skill-04: Does") {
			t.Errorf("at %d what is used lost its description:\n%s", most, got)
		}
		if n > 0 && !strings.Contains(got, "skill-17") {
			t.Errorf("at %d what is used most went first:\n%s", most, got)
		}
		if !strings.Contains(got, fmt.Sprintf("%d have no description and %d are left out", n-d, 30-n)) || !strings.Contains(got, "you MUST load it") {
			t.Errorf("at %d the rule or the note is missing:\n%s", most, got)
		}
	}
	if described != 0 || names > 3 {
		t.Errorf("at the end %d are described and %d named", described, names)
	}
}
