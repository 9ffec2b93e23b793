//go:build unix

package remote_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment/remote"
	"hermes/internal/proc"
)

// host is a Runner with Exec and Close alone. It runs scripts on this machine and, as
// docker exec does, ends none: when its context ends, it cuts its own pipes. As ssh does,
// it returns only when no process holds the output.
type host struct {
	shell, dir string
	env        []string
	closed     func()
	umask      string

	mu    sync.Mutex
	all   []*proc.Process
	calls int
	wires []context.CancelCauseFunc
	// before, if set, may fail instead of running a script.
	before func(ctx context.Context, s remote.Script) error
	// input, if set, changes the input of scripts.
	input func(io.Reader) io.Reader
	// follow, if set, gets what cuts the connection to a script that follows a process.
	follow func(cut context.CancelFunc)
}

func (h *host) Exec(ctx context.Context, s remote.Script) (int, error) {
	if h.before != nil {
		if err := h.before(ctx, s); err != nil {
			return 0, err
		}
	}
	if h.follow != nil && strings.Contains(s.Text, "follower") {
		cutCtx, cut := context.WithCancel(ctx)
		ctx = cutCtx
		h.follow(cut)
	}
	file, err := os.CreateTemp(h.dir, "script") // as long as it likes
	if err != nil {
		return 0, errors.Join(remote.ErrNotRun, err)
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(s.Text); err != nil {
		return 0, err
	}
	file.Close()
	wire := &wire{}
	c := proc.Command{
		Path: h.shell, Args: []string{"-c", "umask " + cmp.Or(h.umask, "022") + "; . '" + file.Name() + "'"}, Dir: filepath.Join(h.dir, "work"), Env: h.env,
		Stdout: wire.writer(s.Stdout), Drain: time.Hour,
	}
	c.Stderr = c.Stdout
	if s.Stderr != s.Stdout {
		c.Stderr = wire.writer(s.Stderr)
	}
	if s.Stdin != nil {
		if h.input != nil {
			s.Stdin = h.input(s.Stdin)
		}
		r, w := io.Pipe()
		defer r.Close()
		go func() { // ends with the input or the pipe
			_, err := io.Copy(w, s.Stdin)
			w.CloseWithError(err)
		}()
		c.Stdin = r
	}
	p, err := proc.Start(context.WithoutCancel(ctx), c)
	if err != nil {
		return 0, errors.Join(remote.ErrNotRun, err)
	}
	h.mu.Lock()
	h.all = append(h.all, p)
	h.calls++
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	h.wires = append(h.wires, lose)
	h.mu.Unlock()
	status, err := p.Wait(ctx)
	if err != nil {
		wire.cut()
		return 0, err
	}
	return status.Code, nil
}

// lose cuts all connections.
func (h *host) lose(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, cut := range h.wires {
		cut(err)
	}
}

func (h *host) Close() error {
	if h.closed != nil {
		h.closed()
	}
	return nil
}

// wire is the connection to a script.
type wire struct {
	mu   sync.Mutex
	gone bool
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
}

func (w *wire) writer(to io.Writer) io.Writer {
	if to == nil {
		return nil
	}
	return &end{w, to}
}

type end struct {
	wire *wire
	to   io.Writer
}

func (e *end) Write(p []byte) (int, error) {
	e.wire.mu.Lock()
	defer e.wire.mu.Unlock()
	if e.wire.gone {
		return 0, io.ErrClosedPipe
	}
	return e.to.Write(p)
}

// shells are those that a place may have. A folder of links makes a place with nothing but
// busybox.
var shells = []string{"bash", "dash", "busybox"}

// newHost makes a place with a shell and its own home, work and temporary folders.
func newHost(t testing.TB, shell string) *host {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work", "home", "tmp", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at, err := exec.LookPath(shell)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	h := &host{shell: at, dir: dir}
	path := os.Getenv("PATH")
	switch shell {
	case "busybox":
		path = filepath.Join(dir, "bin")
		if _, err := proc.Run(t.Context(), proc.Command{Path: at, Args: []string{"--install", "-s", path}}); err != nil {
			t.Fatal(err)
		}
		h.shell = filepath.Join(path, "sh")
	default:
		if err := os.Symlink(at, filepath.Join(dir, "bin", "sh")); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, "bin") + ":" + path
	}
	h.env = []string{"PATH=" + path, "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"), "LANG=C.UTF-8"}
	return h
}

// place returns an environment in a place with a shell, and checks at the end that nothing
// is left of it.
func place(t testing.TB, shell string) (*remote.Environment, *host) {
	t.Helper()
	h := newHost(t, shell)
	c := remote.Config{Runner: h}
	if shell != "bash" {
		c.Shell = h.shell
	}
	e := remote.New(c)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		h.check(t)
	})
	return e, h
}

// check fails if a process or a file is left in the place.
func (h *host) check(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.all {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if _, err := p.Wait(ctx); err != nil {
			t.Errorf("a script or what it started still runs: %v", err)
		}
		cancel()
		p.Close()
	}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte("HOME="+h.dir)) {
			t.Errorf("%s belongs to a process that was left", name)
		}
	}
	left, err := os.ReadDir(filepath.Join(h.dir, "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestRunnerAloneKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
				e, _ := place(t, shell)
				return e
			})
		})
	}
}

// output runs a line with Keep set and returns what it printed.
func output(t testing.TB, e hermes.Environment, line string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := e.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out, Keep: true}); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func readAll(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}
