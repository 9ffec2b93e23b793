package docker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

func TestScripts(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		says(t, r, "pwd; id -u", "/workspace\n0")
		says(t, r, "cat", "") // without Stdin
		says(t, r, "echo a; echo b >&2; echo c", "a\nb\nc")
		for text, want := range map[string]int{
			"exit 1": 1, "exit 125": 125, "exit 126": 126, "no-such-program": 127, "exit 255": 255, "kill -KILL $$": 137, "kill -TERM $$": 143,
			"echo 'Error: No such container: x' >&2; exit 1": 1, "kill -KILL $PPID": 137,
		} {
			if out, code := run(t, r, text); code != want {
				t.Errorf("%s: exit code %d, want %d (%s)", text, code, want, out)
			}
		}
		var out, errs bytes.Buffer
		code, err := r.Exec(t.Context(), remote.Script{Text: "cat; echo x >&2; exit 5", Stdin: strings.NewReader("in"), Stdout: &out, Stderr: &errs})
		if err != nil || code != 5 || out.String() != "in" || errs.String() != "x\n" {
			t.Errorf("%q, %q, %d, %v", out.String(), errs.String(), code, err)
		}
		if _, err := r.Exec(t.Context(), remote.Script{Text: "echo unheard; echo unheard >&2"}); err != nil {
			t.Error(err)
		}
	})
}

func TestLongScriptHasItsInputAndLeavesNoFile(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		for _, size := range []int{90 << 10, 300 << 10} {
			text := "v='" + strings.Repeat("x", size) + "'; echo ${#v}; cat; ls -A /tmp | wc -l; exit 3"
			var out bytes.Buffer
			code, err := r.Exec(t.Context(), remote.Script{Text: text, Stdin: strings.NewReader("input\n"), Stdout: &out})
			want := map[int]string{90 << 10: "92160", 300 << 10: "307200"}[size] + "\ninput\n0\n"
			if err != nil || code != 3 || out.String() != want {
				t.Errorf("%d: %q, %d, %v", size, out.String(), code, err)
			}
		}
	})
}

func TestMuchOutputIsWhole(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		const size = 8 << 20
		var out, errs bytes.Buffer
		text := "head -c 8388608 /dev/zero | tr '\\0' '\\036'; head -c 8388608 /dev/zero >&2; sleep 300 & exit 0"
		begun := time.Now()
		code, err := r.Exec(t.Context(), remote.Script{Text: text, Stdout: &out, Stderr: &errs})
		if err != nil || code != 0 || out.Len() != size || errs.Len() != size {
			t.Errorf("%d and %d bytes, exit code %d, %v", out.Len(), errs.Len(), code, err)
		}
		if d := time.Since(begun); d > time.Minute {
			t.Errorf("a process in the background delays the end by %s", d)
		}
	})
}

func TestEndOfTheContextCutsTheScript(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		cause := errors.New("the user stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &lookout{word: "started", seen: make(chan struct{})}
		go func() {
			<-w.seen
			cancel(cause)
		}()
		if _, err := r.Exec(ctx, remote.Script{Text: "echo started; sleep 300", Stdout: w}); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
	})
}

// TestEndedCommandEndsInTheContainer is about the whole environment: the client alone would leave
// the processes running.
func TestEndedCommandEndsInTheContainer(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		env := remote.New(remote.Config{Runner: unclosed{r}})
		defer env.Close()
		ctx, cancel := context.WithCancel(t.Context())
		w := &lookout{word: "started", seen: make(chan struct{})}
		go func() {
			<-w.seen
			cancel()
		}()
		if _, err := env.Exec(ctx, hermes.Command{Line: "(sleep 301 &) ; echo started; sleep 302", Stdout: w}); err == nil {
			t.Error("a command that was ended returned no error")
		}
		says(t, r, "ps | grep -c '[s]leep 30[12]' || true", "0")
	})
}

// unclosed leaves the Runner to the test.
type unclosed struct{ remote.Runner }

func (unclosed) Close() error { return nil }

func TestTerminal(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		r := open(t, e, config(t, e))
		in, typed := io.Pipe()
		w := &lookout{word: "ready", seen: make(chan struct{})}
		go func() {
			<-w.seen
			_, _ = io.WriteString(typed, "word\r")
		}()
		code, err := r.Terminal(t.Context(), remote.Script{Text: "test -t 0 && stty size; echo ready; read x; echo got $x; exit 4", Stdin: in, Stdout: w}, 97, 31)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil || code != 4 || !strings.Contains(w.text, "31 97") || !strings.Contains(w.text, "got word") {
			t.Errorf("%q, %d, %v", w.text, code, err)
		}
	})
}
