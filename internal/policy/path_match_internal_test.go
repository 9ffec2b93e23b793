package policy

import (
	"strings"
	"testing"
)

func TestMeet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"a", "a", true}, {"a", "b", false}, {"a", "", false}, {"*", "", true}, {"a*", "*b", true}, {"a*", "b*", false},
		{"*.pub", "id?", false}, {"*.pub", "a.???", true}, {".env.*", ".e?v.local", true}, {".env.*", ".env", false}, {".env.*", ".e*", true},
		{"known_hosts*", "known_???", false}, {"known_hosts*", "known_h????", true}, {"a?c", "ab", false}, {"a**c", "a*b*c", true},
	} {
		if got := meet(c.a, c.b); got != c.want {
			t.Errorf("meet(%q, %q) = %v", c.a, c.b, got)
		}
		if got := meet(c.b, c.a); got != c.want {
			t.Errorf("meet(%q, %q) = %v", c.b, c.a, got)
		}
	}
	if meet("a*b*c*d", strings.Repeat("a*", 10_000)+"e") { // ends at once
		t.Error("patterns with another last letter meet")
	}
}
