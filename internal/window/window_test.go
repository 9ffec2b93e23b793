package window_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/window"
)

func leftOut(missing, whole int64) string { return fmt.Sprintf("[%d of %d]", missing, whole) }

func TestBothEndsAreKept(t *testing.T) {
	t.Parallel()
	w := window.New(10)
	fmt.Fprint(w, "abcdefghij")
	if got := w.Text(leftOut); got != "abcdefghij" || w.Cut() {
		t.Errorf("got %q, cut %v", got, w.Cut())
	}
	fmt.Fprint(w, strings.Repeat("-", 100)+"uvwxyz")
	if got, want := w.Text(leftOut), "abcd\n\n[106 of 116]\n\nuvwxyz"; got != want || !w.Cut() {
		t.Errorf("got %q, want %q, cut %v", got, want, w.Cut())
	}
}

func FuzzWindow(f *testing.F) {
	f.Add("héllo wörld 日本語 and more text", 10, 3)
	f.Fuzz(func(t *testing.T, in string, most, step int) {
		if most < 10 || most > 1000 || step < 1 {
			return
		}
		w := window.New(most)
		for rest := in; rest != ""; {
			n := min(step, len(rest))
			_, _ = w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := w.Text(leftOut)
		if !utf8.ValidString(got) || len(got) > 4*most+300 {
			t.Errorf("%d bytes of %d: %q", len(got), most, got)
		}
		if len(in) <= most && utf8.ValidString(in) && !strings.ContainsFunc(in, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) && got != in {
			t.Errorf("%q became %q", in, got)
		}
	})
}
