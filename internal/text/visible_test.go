package text_test

import (
	"testing"

	"hermes/internal/text"
)

func TestVisibleSpellsOutWhatAScreenHides(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a b\n\tc":        "a b\n\tc",
		"a\x1b[2Jb":       "a<U+001B>[2Jb",
		"a\u200bb\u202ec": "a<U+200B>b<U+202E>c",
		"a\u00a0b\u2800c": "a<U+00A0>b<U+2800>c",
		"a\xffb":          "a\ufffdb",
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got, want := text.VisibleName("a\nb  c d"), "a<U+000A>b<U+0020> c d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
