package hermestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hermes"
)

// beating is a line whose processes write to a file until they are ended: the shell's own
// child, one that ignores the signal to end, and one in a session of its own.
const beating = `beat() { while :; do printf x >>"$1"; sleep 0.05 || sleep 1; done; }
beat child & (trap '' TERM HUP INT; beat stubborn) &
command -v setsid >/dev/null && setsid sh -c 'while :; do printf x >>own; sleep 0.05 || sleep 1; done' &
until [ -s child ] && [ -s stubborn ] && { [ -s own ] || ! command -v setsid >/dev/null; }; do sleep 0.01 || sleep 1; done
echo started; wait`

// silent fails if a process of beating still runs. The place waits between two looks.
func silent(t *testing.T, e hermes.Environment) {
	t.Helper()
	const sizes = "cat child stubborn own 2>/dev/null | wc -c"
	before, _ := do(t, e, sizes)
	if after, _ := do(t, e, "sleep 0.4 || sleep 2; "+sizes); after != before {
		t.Errorf("something still runs: it wrote %s bytes, now %s", strings.TrimSpace(before), strings.TrimSpace(after))
	}
}

// endsInside: when the context ends, so do all processes of the command, where they run.
func endsInside(t *testing.T, e hermes.Environment) {
	cause := errors.New("the user said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	out := &signalWriter{said: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := e.Exec(ctx, hermes.Command{Line: beating, Stdout: out})
		done <- err
	}()
	select {
	case <-out.said:
	case err := <-done:
		t.Fatalf("it ended early: %v", err)
	}
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
	silent(t, e)
}

// killEnds: Kill ends all processes of a background command.
func killEnds(t *testing.T, e hermes.Environment) {
	s, ok := e.(hermes.Starter)
	if !ok {
		t.Skip("it starts nothing in the background")
	}
	out := &signalWriter{said: make(chan struct{})}
	p := mustStart(t, s, hermes.Command{Line: beating, Stdout: out})
	ended := make(chan error, 1)
	go func() {
		_, err := p.Wait(t.Context())
		ended <- err
	}()
	select {
	case <-out.said:
	case err := <-ended:
		t.Fatalf("it ended early: %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("wait: %v", err)
	}
	silent(t, e)
}

// longLines: a command may be longer than what one program can pass to another.
func longLines(t *testing.T, e hermes.Environment) {
	const n = 300_000
	for _, c := range []string{strings.Repeat("x", n), strings.Repeat("'\"", n/2)} {
		line := "x='" + strings.ReplaceAll(c, "'", `'\''`) + "'; printf %s \"$x\""
		if got, code := do(t, e, line); got != c || code != 0 {
			t.Errorf("%d bytes came back as %d, exit status %d", len(c), len(got), code)
		}
	}
	var out bytes.Buffer
	_, err := e.Exec(t.Context(), hermes.Command{Line: "cat; : " + strings.Repeat("x", n), Stdin: strings.NewReader("given"), Stdout: &out})
	if err != nil || out.String() != "given" {
		t.Errorf("a long line with input printed %q, %v", out.String(), err)
	}
}

// manyAtOnce: commands at the same time get their own input and output.
func manyAtOnce(t *testing.T, e hermes.Environment) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			var out, errs bytes.Buffer
			exit, err := e.Exec(t.Context(), hermes.Command{
				Line: fmt.Sprintf("cat; echo err%d >&2; exit %d", i, i), Stdin: strings.NewReader(fmt.Sprint("in", i)), Stdout: &out, Stderr: &errs, Keep: i%2 == 0,
			})
			if want := fmt.Sprint("in", i); err != nil || exit.Code != i || out.String() != want || errs.String() != fmt.Sprintf("err%d\n", i) {
				t.Errorf("command %d: %q, %q, exit %+v, %v", i, out.String(), errs.String(), exit, err)
			}
		})
	}
	all.Wait()
}

// exactStreams: both streams carry any bytes.
func exactStreams(t *testing.T, e hermes.Environment) {
	all := make([]byte, 0, 300_000)
	for i := 0; len(all) < cap(all); i++ {
		all = append(all, byte(i), byte(i>>8), '\r', '\n', 0, 0xff, 0x1e)
	}
	var out, errs bytes.Buffer
	_, err := e.Exec(t.Context(), hermes.Command{Line: "tee /dev/stderr", Stdin: bytes.NewReader(all), Stdout: &out, Stderr: &errs, Keep: true})
	if err != nil || !bytes.Equal(out.Bytes(), all) || !bytes.Equal(errs.Bytes(), all) {
		t.Errorf("%d bytes came back as %d and %d, %v", len(all), out.Len(), errs.Len(), err)
	}
}
