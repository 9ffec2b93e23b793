//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
)

// heard collects output and says when a text has come.
type heard struct {
	mu   sync.Mutex
	all  bytes.Buffer
	want string
	came chan struct{}
}

func hear(want string) *heard { return &heard{want: want, came: make(chan struct{})} }

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	had := strings.Contains(h.all.String(), h.want)
	h.all.Write(p)
	if !had && strings.Contains(h.all.String(), h.want) {
		close(h.came)
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

func (h *heard) wait(t testing.TB) {
	t.Helper()
	select {
	case <-h.came:
	case <-time.After(20 * time.Second):
		t.Fatalf("heard %q, not %q", h.String(), h.want)
	}
}

func mustStart(t testing.TB, e *remote.Environment, c hermes.Command) hermes.Process {
	t.Helper()
	p, err := e.Start(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBackgroundIsFoundAgain cuts the connection to a process twice: it goes on, and all
// that it printed arrives once.
func TestBackgroundIsFoundAgain(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			e, h := place(t, shell)
			var cuts atomic.Int32
			cut := make(chan context.CancelFunc, 10)
			h.follow = func(cancel context.CancelFunc) { cuts.Add(1); cut <- cancel }
			one, two, three, errs := hear("one"), hear("two"), hear("three"), hear("err two")
			p := mustStart(t, e, hermes.Command{
				Line:   "head -c 200000 /dev/zero | tr '\\0' x; echo; echo one; echo err one >&2; read a; echo two; echo err two >&2; read a; echo three; read a; exit 7",
				Stdout: io.MultiWriter(one, two, three), Stderr: errs, Keep: true, Dir: "/",
			})
			for _, out := range []*heard{one, two} {
				out.wait(t)
				(<-cut)()
				if err := p.Input([]byte("go on\n")); err != nil {
					t.Fatal(err)
				}
			}
			three.wait(t)
			errs.wait(t)
			if err := p.Input([]byte("end\n")); err != nil {
				t.Fatal(err)
			}
			if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 7 {
				t.Errorf("exit %+v, %v", exit, err)
			}
			if got, want := three.String(), strings.Repeat("x", 200000)+"\none\ntwo\nthree\n"; got != want {
				t.Errorf("got %d bytes, want %d: …%q", len(got), len(want), got[max(0, len(got)-100):])
			}
			if got := errs.String(); got != "err one\nerr two\n" {
				t.Errorf("errors %q", got)
			}
			if cuts.Load() < 3 {
				t.Errorf("%d connections", cuts.Load())
			}
			if got := output(t, e, "pwd"); got != "/" {
				t.Errorf("it left the folder %s", got)
			}
		})
	}
}

func TestBackgroundReadsItsInput(t *testing.T) {
	t.Parallel()
	e, _ := place(t, "dash")
	var out bytes.Buffer
	want := strings.Repeat("all of it\n", 50_000)
	p := mustStart(t, e, hermes.Command{Line: "cat; echo problem >&2", Stdin: strings.NewReader(want), Stdout: &out, Stderr: &out})
	if _, err := p.Wait(t.Context()); err != nil || out.String() != want+"problem\n" {
		t.Errorf("%d bytes, want %d, %v", out.Len(), len(want)+8, err)
	}
}

func TestBackgroundIsBound(t *testing.T) {
	t.Parallel()
	e, _ := place(t, "bash")
	p := mustStart(t, e, hermes.Command{Line: "sleep 300", Limits: hermes.Limits{Time: 50 * time.Millisecond}})
	if _, err := p.Wait(t.Context()); !errors.Is(err, hermes.ErrTimeLimit) {
		t.Errorf("it ended with %v, want ErrTimeLimit", err)
	}
	if _, err := e.Start(t.Context(), hermes.Command{Line: "true"}, true); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("a terminal: %v", err)
	}
	if _, err := e.Start(t.Context(), hermes.Command{Line: "true", Limits: hermes.Limits{Processes: 1}}, false); err == nil {
		t.Error("a limit was ignored")
	}
}

// TestALostBackgroundCommandIsNoSuccess: the place cannot be reached any more when the time of
// a process ends. The next command does not begin before the process was ended.
func TestALostBackgroundCommandIsNoSuccess(t *testing.T) {
	t.Parallel()
	e, h := place(t, "dash")
	output(t, e, "true")
	down := errors.New("the network is down")
	var back atomic.Bool
	var scripts atomic.Int32
	gone := make(chan struct{})
	h.before = func(ctx context.Context, s remote.Script) error {
		if back.Load() || scripts.Add(1) == 1 { // the start
			return nil
		}
		if !strings.Contains(s.Text, "follower") { // what ends it, perhaps too early
			select {
			case <-gone:
			case <-ctx.Done():
			}
		}
		select {
		case <-gone:
			return down
		default:
			return nil
		}
	}
	begun := hear("begun")
	p := mustStart(t, e, hermes.Command{Line: "printf x >>beats; echo begun; " + beat, Stdout: begun, Limits: hermes.Limits{Time: 500 * time.Millisecond}})
	begun.wait(t)
	close(gone)
	h.lose(down)
	_, err := p.Wait(t.Context())
	for _, want := range []error{hermes.ErrTimeLimit, down} {
		if !errors.Is(err, want) {
			t.Errorf("it ended with %v, want %v", err, want)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "outcome is unknown") {
		t.Errorf("it ended with %v, which does not say that the outcome is unknown", err)
	}
	back.Store(true)
	mustBeSilent(t, e)
}

// withTerminals says that it has terminals; they are none.
type withTerminals struct{ *host }

func (w withTerminals) Terminal(ctx context.Context, s remote.Script, columns, rows int) (int, error) {
	if columns < 80 || rows < 24 {
		return 0, errors.New("too small")
	}
	return w.Exec(ctx, s)
}

func TestTerminalsAreUsed(t *testing.T) {
	t.Parallel()
	h := newHost(t, "bash")
	e := remote.New(remote.Config{Runner: withTerminals{h}})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		h.check(t)
	})
	start := func(c hermes.Command) hermes.Process {
		p, err := e.Start(t.Context(), c, true)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var out bytes.Buffer
	p := start(hermes.Command{Line: "echo $TERM; read a; echo got $a; exit 4", Stdout: &out})
	if err := p.Input([]byte("typed\n")); err != nil {
		t.Error(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 4 || out.String() != "xterm-256color\ngot typed\n" {
		t.Errorf("exit %+v, %v, %q", exit, err, out.String())
	}
	if err := p.Input([]byte("late\n")); err == nil {
		t.Error("input to an ended process gave no error")
	}
	begun := hear("begun")
	p = start(hermes.Command{Line: "echo begun; " + beat, Stdout: begun})
	begun.wait(t)
	output(t, e, "until [ -s beats ]; do sleep 0.01; done")
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code == 0 {
		t.Errorf("after kill: exit %+v, %v", exit, err)
	}
	mustBeSilent(t, e)
	p = start(hermes.Command{Line: "sleep 300", Limits: hermes.Limits{Time: 50 * time.Millisecond}})
	if _, err := p.Wait(t.Context()); !errors.Is(err, hermes.ErrTimeLimit) {
		t.Errorf("it ended with %v, want ErrTimeLimit", err)
	}
	start(hermes.Command{Line: "sleep 300"}) // Close ends it
}

// TestEndedIsGone: of a command with children in sessions of their own, nothing is left.
func TestEndedIsGone(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			e, _ := place(t, shell)
			ctx, cancel := context.WithCancel(t.Context())
			out := hear("started")
			line := `trap '' TERM; (trap '' TERM; sleep 300) & echo $! >pids; setsid sh -c 'echo $$ >>pids; sleep 300; :' & sleep 300 & echo $! >>pids
until [ $(wc -l <pids) = 3 ]; do sleep 0.01; done; cat pids; echo started; sleep 300; sleep 300`
			done := make(chan error)
			go func() {
				_, err := e.Exec(ctx, hermes.Command{Line: line, Stdout: out})
				done <- err
			}()
			out.wait(t)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			for pid := range strings.FieldsSeq(out.String()) {
				if pid != "started" && alive(t, pid) {
					t.Errorf("process %s still runs", pid)
				}
			}
		})
	}
}

func alive(t testing.TB, pid string) bool {
	t.Helper()
	var n int
	for _, d := range pid {
		n = 10*n + int(d-'0')
	}
	if err := syscall.Kill(n, 0); err != nil {
		return false
	}
	stat, err := readAll("/proc/" + pid + "/stat")
	return err != nil || !strings.Contains(stat, ") Z ")
}
