package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes/internal/window"
)

// TestProgressIsShownAsItsLastState: wherever the output is cut, in both kinds of command.
func TestProgressIsShownAsItsLastState(t *testing.T) {
	t.Parallel()
	const in, want = "\x1b[1mget\x1b[0m a 10%\rget a 20%\x1b[K\rwarning: slow\r\n", "get a 20%\nwarning: slow\n"
	w, b := window.New(1000), newBuffer(1000)
	for _, c := range []byte(in) {
		_, _ = w.Write([]byte{c})
		_, _ = b.Write([]byte{c})
	}
	if got := w.Text(leftOut); got != want {
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
