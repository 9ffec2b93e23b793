package hermes_test

import (
	"strings"
	"testing"

	"hermes"
)

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"  two\t words\n", "two words"},
		{"zero\u200bwidth", "zerowidth"},
		{"right\u202eleft", "rightleft"},
		{"bell\a", "bell"},
		{"\u200b\u200d", ""},
		{"soft\u00adhyphen \u3164\u2800\ufe0f\U000e0041", "softhyphen"},
		{"日本語 の題", "日本語 の題"},
		{strings.Repeat("é", 100), strings.Repeat("é", 100)},
	} {
		got, err := hermes.CleanTitle(c.in)
		if err != nil || got != c.want {
			t.Errorf("CleanTitle(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	if _, err := hermes.CleanTitle(strings.Repeat("a", 101)); err == nil {
		t.Error("a title of 101 characters was taken")
	}
}

func TestTitlesOfALineage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, name string
		n        int
		next     string
	}{
		{"fix", "fix", 1, "fix #2"},
		{"fix #2", "fix", 2, "fix #3"},
		{"fix #1", "fix #1", 1, "fix #1 #2"},
		{"fix #02", "fix #02", 1, "fix #02 #2"},
		{"issue #x", "issue #x", 1, "issue #x #2"},
		{" #2", " #2", 1, " #2 #2"},
		{"", "", 1, ""},
	} {
		name, n := hermes.SplitTitle(c.in)
		if name != c.name || n != c.n {
			t.Errorf("SplitTitle(%q) = %q, %d; want %q, %d", c.in, name, n, c.name, c.n)
		}
		if got := hermes.NextTitle(c.in); got != c.next {
			t.Errorf("NextTitle(%q) = %q; want %q", c.in, got, c.next)
		}
	}
	long := hermes.NextTitle(strings.Repeat("a", 100))
	if len(long) != 100 || !strings.HasSuffix(long, " #2") {
		t.Errorf("the next title of a long one is %q", long)
	}
}
