package text_test

import (
	"testing"

	"hermes/internal/text"
)

func TestPlural(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{-1: "-1 entries", 0: "0 entries", 1: "1 entry", 2: "2 entries", 12345: "12345 entries"} {
		if got := text.Plural(n, "entry", "entries"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := text.Plural(int64(n), "entry", "entries"); got != want {
			t.Errorf("int64: got %q, want %q", got, want)
		}
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in                  string
		prefix, clip, short string // after 3
	}{
		{"", "", "", ""},
		{"abc", "abc", "abc", "abc"},
		{"abcd", "abc", "abc…", "abc…"},
		{"äöü", "ä", "ä…", "äöü"},
		{"äöüx", "ä", "ä…", "äöü…"},
	} {
		if p, k, s := text.Prefix(c.in, 3), text.Clip(c.in, 3), text.Short(c.in, 3); p != c.prefix || k != c.clip || s != c.short {
			t.Errorf("%q is %q, %q and %q", c.in, p, k, s)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1536: "1.5 KB", 12_900_000: "12.3 MB", 3 << 40: "3.0 TB", 5000 << 40: "5000.0 TB"} {
		if got := text.Size(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
