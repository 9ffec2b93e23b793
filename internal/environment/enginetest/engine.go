// Package enginetest runs real container engines for tests: a Docker engine with its own
// socket and storage, and podman with its own storage. Each holds one image, which is
// busybox. Nothing of it touches the engines of the machine, and nothing is left when the
// test binary ends or is killed.
//
// It needs Linux, root, and the Debian packages docker.io, podman, runc and busybox-static.
// Start reading at [Shared].
package enginetest

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/proc"
)

// The scripts that keep an engine. They end it and clean up when their input ends.
var (
	//go:embed docker.sh
	dockerScript string
	//go:embed podman.sh
	podmanScript string
)

// Image is the name of the image that every engine holds. Its programs are those of
// busybox; it is used by root.
const Image = "hermes-test:1"

// searched is the PATH of the engines and their clients.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// startTime bounds the start of an engine, and its end.
const startTime = time.Minute

// ErrMissing means that this machine has no such engine, or that its user is not root.
var ErrMissing = errors.New("no container engine can be started here")

// Engine is a container engine for tests. Its methods may be called concurrently, but
// Kill and Restart only one at a time.
type Engine struct {
	// Program is the path of the command line client.
	Program string
	// Env is the whole environment of the client, which leads it to this engine.
	Env []string
	// Dir is the folder of everything that the engine keeps.
	Dir string

	keeper  *proc.Process
	orders  io.WriteCloser
	answers *bufio.Reader
	reply   io.Closer
}

// Docker starts a Docker engine. The caller must close it.
func Docker() (*Engine, error) {
	return start("docker", dockerScript, []string{"dockerd", "containerd", "runc"}, func(dir string) []string {
		return []string{"DOCKER_HOST=unix://" + dir + "/docker.sock", "DOCKER_CONFIG=" + dir + "/config"}
	})
}

// Podman prepares podman. The caller must close it.
func Podman() (*Engine, error) {
	return start("podman", podmanScript, []string{"runc", "conmon"}, func(dir string) []string {
		return []string{
			"CONTAINERS_CONF=" + dir + "/containers.conf", "CONTAINERS_STORAGE_CONF=" + dir + "/storage.conf", "XDG_RUNTIME_DIR=" + dir + "/run",
		}
	})
}

// start runs the script of an engine in a new folder, and imports the image.
func start(client, script string, needs []string, env func(dir string) []string) (*Engine, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: that needs root", ErrMissing)
	}
	paths := map[string]string{}
	for _, program := range append([]string{client, "busybox"}, needs...) {
		if paths[program] = lookUp(program); paths[program] == "" {
			return nil, fmt.Errorf("%w: %s is not installed", ErrMissing, program)
		}
	}
	dir, err := os.MkdirTemp("", "engine") // short: the paths of sockets are limited
	if err != nil {
		return nil, err
	}
	e := &Engine{Program: paths[client], Dir: dir, Env: append([]string{"PATH=" + searched, "HOME=" + dir}, env(dir)...)}
	if err := e.keep(script); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err := errors.Join(e.order("start"), e.addImage(paths["busybox"])); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func lookUp(program string) string {
	for _, dir := range filepath.SplitList(searched) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// apart runs a script below a shell of its own, because what proc starts is killed together
// with this process, and the script has to clean up after that.
const apart = `exec 3<&0; sh -c "$@" <&3 3<&- & exec </dev/null 3<&- >/dev/null; wait`

// keep starts the script. Its input is a pipe that only this process holds.
func (e *Engine) keep(script string) error {
	in, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	answers, reply, err := os.Pipe()
	if err != nil {
		orders.Close()
		return err
	}
	defer reply.Close()
	e.keeper, err = proc.Start(context.Background(), proc.Command{
		Path: "/bin/sh", Args: []string{"-c", apart, "engine", script, "engine", e.Dir, e.Program}, Files: nil, Dir: "/",
		Env: []string{"PATH=" + searched}, Stdin: in, Stdout: reply,
	})
	if err != nil {
		orders.Close()
		answers.Close()
		return err
	}
	e.orders, e.answers, e.reply = orders, bufio.NewReader(answers), answers
	return nil
}

// order gives the script one line and waits for its answer.
func (e *Engine) order(line string) error {
	if _, err := io.WriteString(e.orders, line+"\n"); err != nil {
		return err
	}
	answer, err := e.answers.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the script of the engine has ended: %w", err)
	}
	if answer = strings.TrimSpace(answer); answer != "ok" {
		return errors.New(answer)
	}
	return nil
}

// Kill ends a Docker engine as a crash would: clients lose their connections, and
// containers run on.
func (e *Engine) Kill() error { return e.order("kill") }

// Restart starts a Docker engine again after Kill.
func (e *Engine) Restart() error { return e.order("start") }

// Run runs the client and returns what it prints, without the last line break. An exit
// status other than 0 is an error with the client's words.
func (e *Engine) Run(ctx context.Context, args ...string) (string, error) {
	return e.run(ctx, nil, args...)
}

func (e *Engine) run(ctx context.Context, in io.Reader, args ...string) (string, error) {
	var out, errs bytes.Buffer
	st, err := proc.Run(ctx, proc.Command{Path: e.Program, Args: args, Files: nil, Dir: e.Dir, Env: e.Env, Stdin: in, Stdout: &out, Stderr: &errs})
	if err == nil && st.Code != 0 {
		err = fmt.Errorf("%s %s: exit status %d: %s", filepath.Base(e.Program), strings.Join(args, " "), st.Code, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSuffix(out.String(), "\n"), err
}

// Close ends the engine with all its containers and deletes what it kept.
func (e *Engine) Close() error {
	e.orders.Close()
	ctx, cancel := context.WithTimeoutCause(context.Background(), startTime, errors.New("the engine does not end"))
	defer cancel()
	_, err := e.keeper.Wait(ctx)
	e.keeper.Close()
	e.reply.Close()
	if _, there := os.Stat(e.Dir); err == nil && !errors.Is(there, fs.ErrNotExist) {
		err = fmt.Errorf("the engine did not clean up %s", e.Dir)
	}
	return err
}

// Shared is an engine that all tests of a package use. It starts with its first use.
// TestMain must call Close after the tests.
type Shared struct {
	// Start is [Docker] or [Podman].
	Start func() (*Engine, error)
	// Needed makes tests fail where the engine is missing, instead of being skipped.
	Needed bool

	once   sync.Once
	engine *Engine
	err    error
}

// Get returns the engine. Where it is missing, the test is skipped.
func (s *Shared) Get(t testing.TB) *Engine {
	t.Helper()
	s.once.Do(func() { s.engine, s.err = s.Start() })
	if errors.Is(s.err, ErrMissing) && !s.Needed {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.engine
}

// Close ends the engine, if it was used.
func (s *Shared) Close() error {
	s.once.Do(func() { s.err = ErrMissing })
	if s.engine == nil {
		return nil
	}
	return s.engine.Close()
}
