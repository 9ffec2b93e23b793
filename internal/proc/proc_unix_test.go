//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes/internal/proc"
)

// buffer is a bytes.Buffer for two streams.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func sh(line string) proc.Command {
	return proc.Command{Path: "/bin/sh", Args: []string{"-c", line}, Env: os.Environ()}
}

func mustStart(t *testing.T, ctx context.Context, c proc.Command) *proc.Process {
	t.Helper()
	p, err := proc.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// patience is how many hundredths of a second a test waits for what must
// happen: on a loaded machine a shell may need many seconds to say a word.
const patience = 6000

// gone waits until no process has the pid, or only a zombie that init will
// collect.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range patience {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("process %d still lives", pid)
}

// firstLine waits for a line of output, such as a pid that was echoed.
func firstLine(t *testing.T, b *buffer) string {
	t.Helper()
	for range patience {
		if line, _, ok := strings.Cut(b.String(), "\n"); ok {
			return line
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatal("no output came")
	return ""
}

func TestExitCodesFollowTheShell(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"true": 0, "exit 3": 3, "kill -TERM $$": 143, "kill -KILL $$": 137, "no-such-command-here 2>/dev/null": 127,
	} {
		got, err := proc.Run(t.Context(), sh(line))
		if err != nil || got.Code != want {
			t.Errorf("%s: code %d, error %v; want %d", line, got.Code, err, want)
		}
	}
}

func TestOneWriterSeesBothStreamsInOrder(t *testing.T) {
	t.Parallel()
	var out buffer
	c := sh("echo a; echo b >&2; echo c; echo d >&2")
	c.Stdout, c.Stderr = &out, &out
	if _, err := proc.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a\nb\nc\nd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSeparateStreamsAndInput(t *testing.T) {
	t.Parallel()
	var out, errs buffer
	c := sh("cat; echo oops >&2")
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("hello"), &out, &errs
	if _, err := proc.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if out.String() != "hello" || errs.String() != "oops\n" {
		t.Errorf("got %q and %q", out.String(), errs.String())
	}
}

func TestGrandchildThatHoldsTheOutputDoesNotHangTheWait(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"sleep 3000 & echo started",
		"(sleep 3000 &) ; echo started",
		"nohup sleep 3000 & echo started",
	} {
		var out buffer
		c := sh(line)
		c.Stdout, c.Stderr = &out, &out
		p := mustStart(t, t.Context(), c)
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "started") {
			t.Errorf("%s: output %q", line, out.String())
		}
		if !p.Left() { // nor was its end waited for
			t.Errorf("%s: the grandchild was not seen", line)
		}
		p.Close()
		if p.Left() {
			t.Errorf("%s: the grandchild survived Close", line)
		}
	}
}

func TestDetachedGrandchildIsNotStoppedByABrokenPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := dir + "/mark"
	var out buffer
	c := sh(`(while [ ! -e "$DIR/go" ]; do sleep 0.05; done; echo late; echo later; touch "$DIR/mark") & echo pid`)
	c.Env = append(c.Env, "DIR="+dir)
	c.Stdout = &out
	p := mustStart(t, t.Context(), c)
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range patience {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("the grandchild died when it wrote")
	}
	if got := out.String(); got != "pid\n" {
		t.Errorf("output after the wait was delivered: %q", got)
	}
}

func TestContextEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"plain":          "sleep 3000 & echo $!; wait",
		"ignores TERM":   "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo $!; wait; wait",
		"stopped":        "sleep 3000 & echo $!; kill -STOP $!; wait",
		"nested in sh":   "sh -c 'sleep 3000 & echo $!; wait'",
		"child forgot":   "(sleep 3000 & echo $!; wait) & wait",
		"piped together": "sleep 3000 | sleep 3000 & echo $!; wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cause := errors.New("stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			var out buffer
			c := sh(line)
			c.Stdout, c.Grace = &out, 200*time.Millisecond
			p := mustStart(t, ctx, c)
			pid, err := strconv.Atoi(firstLine(t, &out))
			if err != nil {
				t.Fatal(err)
			}
			cancel(cause)
			got, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Code != 143 && got.Code != 137 {
				t.Errorf("exit code %d", got.Code)
			}
			gone(t, pid)
		})
	}
}

func TestKillReachesThoseWhoLeftTheGroup(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("needs setsid")
		}
		t.Skip("needs setsid")
	}
	var out buffer
	c := sh("setsid sh -c 'echo $$; exec sleep 3000' & wait")
	c.Stdout = &out
	p := mustStart(t, t.Context(), c)
	pid, err := strconv.Atoi(firstLine(t, &out))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

// held is a writer that takes its time.
type held struct {
	buffer
	wait chan struct{}
}

func (h *held) Write(p []byte) (int, error) {
	<-h.wait
	return h.buffer.Write(p)
}

// A machine under load may let the reader of an output sleep for longer than
// the quiet time: what a child has written is delivered all the same.
func TestOutputIsWholeHoweverLateItIsRead(t *testing.T) {
	t.Parallel()
	out := &held{wait: make(chan struct{})}
	c := sh("echo one; exec seq 100000")
	c.Stdout, c.Drain = out, time.Nanosecond
	p := mustStart(t, t.Context(), c)
	time.AfterFunc(50*time.Millisecond, func() { close(out.wait) })
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasSuffix(got, "\n100000\n") {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(0, len(got)-20):])
	}
}

func TestRunReturnsTheCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	if _, err := proc.Run(ctx, sh("sleep 3000")); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}

func TestInputIsWrittenUntilItIsClosed(t *testing.T) {
	t.Parallel()
	var out buffer
	c := sh("cat")
	c.OpenInput, c.Stdout = true, &out
	p := mustStart(t, t.Context(), c)
	if err := p.Input([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if got := firstLine(t, &out); got != "one" {
		t.Errorf("got %q", got)
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Wait(t.Context()); err != nil || s.Code != 0 {
		t.Errorf("status %+v, error %v", s, err)
	}
	if err := p.Input([]byte("two")); !errors.Is(err, proc.ErrInputClosed) {
		t.Errorf("writing after the end: %v", err)
	}
}

func TestMissingProgramAndFolderAreErrors(t *testing.T) {
	t.Parallel()
	if _, err := proc.Run(t.Context(), proc.Command{Path: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("program: %v", err)
	}
	c := sh("true")
	c.Dir = t.TempDir() + "/gone"
	if _, err := proc.Run(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder: %v", err)
	}
}

func TestNilEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("PROC_TEST_SECRET", "x")
	var out buffer
	c := sh("echo ${PROC_TEST_SECRET-unset}")
	c.Env, c.Stdout = nil, &out
	if _, err := proc.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "unset\n" {
		t.Errorf("got %q", got)
	}
}

func TestMuchOutputArrivesWhole(t *testing.T) {
	t.Parallel()
	var n counter
	c := sh("head -c 20000000 /dev/zero")
	c.Stdout = &n
	if _, err := proc.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n.n != 20_000_000 {
		t.Errorf("%d bytes arrived", n.n)
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

func TestWriterThatFailsDoesNotStopTheChild(t *testing.T) {
	t.Parallel()
	c := sh("head -c 1000000 /dev/zero; exit 5")
	c.Stdout = failing{}
	s, err := proc.Run(t.Context(), c)
	if err != nil || s.Code != 5 {
		t.Errorf("status %+v, error %v", s, err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func BenchmarkRun(b *testing.B) {
	var out buffer
	c := sh("echo hello")
	c.Stdout, c.Stderr = &out, &out
	for b.Loop() {
		if _, err := proc.Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
