package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestProgressIsShownAsItsLastState: wherever the output is cut, in both kinds of command.
func TestProgressIsShownAsItsLastState(t *testing.T) {
	t.Parallel()
	const in, want = "\x1b[1mget\x1b[0m a 10%\rget a 20%\x1b[K\rwarning: slow\r\n", "get a 20%\nwarning: slow\n"
	w, b := newWindow(1000), newBuffer(1000)
	for _, c := range []byte(in) {
		_, _ = w.Write([]byte{c})
		_, _ = b.Write([]byte{c})
	}
	if got := w.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, _, _ := b.since(0, 1000); got != want {
		t.Errorf("in the background: got %q, want %q", got, want)
	}
}

// TestWatchSeesEveryState: a line that ends in a carriage return is searched too,
// and a long row of states hides nothing.
func TestWatchSeesEveryState(t *testing.T) {
	t.Parallel()
	var told []string
	set := New(Config{Wake: func(_, text string) { told = append(told, text) }, Now: func() time.Time { return time.Unix(1, 0) }})
	j := &job{id: "p", out: newBuffer(100)}
	j.out.watch = set.of("s").newWatcher(j, []string{"ERROR"})
	for i := range 1000 {
		fmt.Fprintf(j.out, "step %d of 1000\r", i)
	}
	fmt.Fprint(j.out, "ERROR: no space\rstep 1000 of 1000\n")
	if len(told) != 1 || !strings.Contains(told[0], "no space") || strings.Contains(told[0], "step") {
		t.Errorf("got %q", told)
	}
}

func FuzzWindow(f *testing.F) {
	f.Add("héllo wörld 日本語 and more text", 10, 3)
	f.Fuzz(func(t *testing.T, in string, most, step int) {
		if most < 10 || most > 1000 || step < 1 {
			return
		}
		w := newWindow(most)
		for rest := in; rest != ""; {
			n := min(step, len(rest))
			_, _ = w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := w.Text()
		if !utf8.ValidString(got) || len(got) > 4*most+300 {
			t.Errorf("%d bytes of %d: %q", len(got), most, got)
		}
		if len(in) <= most && utf8.ValidString(in) && !strings.ContainsFunc(in, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) && got != in {
			t.Errorf("%q became %q", in, got)
		}
	})
}
