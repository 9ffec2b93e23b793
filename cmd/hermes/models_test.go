//go:build slow && unix

// Tests of the built program against real model servers. `.ci/slow models` builds the
// servers and runs them.
package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// counterparts is the folder with the servers; a missing one is a failure.
var counterparts = os.Getenv("HERMES_SLOW_MODELS")

// counterpart returns the path of one of them.
func counterpart(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(counterparts, name)
	if _, err := os.Stat(path); counterparts == "" || err != nil {
		t.Fatalf("%s is missing in HERMES_SLOW_MODELS=%q; run .ci/slow models", name, counterparts)
	}
	return path
}

// program builds the program, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hermes-slow-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "hermes")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build hermes: %w\n%s", err, text)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

// port returns a port of this machine that was free just now.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, p, _ := net.SplitHostPort(l.Addr().String())
	return p
}

// launch starts a server and ends it, and what it started, with the test. Its output
// is shown if the test fails.
func launch(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			text := log.String()
			t.Logf("%s said at its end:\n%s", filepath.Base(name), text[max(0, len(text)-4000):])
		}
	})
}

// await waits until a server answers at an address.
func await(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := http.Get(url); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no answer from %s", url)
		case <-tick.C:
		}
	}
}

// protocols are the values of api_mode, with the names of their providers here.
var protocols = map[string]string{"chat": "chat_completions", "messages": "anthropic_messages", "responses": "codex_responses"}

// limited keeps answers short. Requests name a limit, which goes before that of the server.
const limited = "title_generation: {enabled: false}\nmodel: {max_tokens: 48}\n"

// home is a fresh home of Hermes whose providers are one server, over each protocol.
type home struct{ dir, program string }

func newHome(t *testing.T, url, key string) home {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	h := home{t.TempDir(), path}
	config := limited + "providers:\n"
	for name, mode := range protocols {
		config += fmt.Sprintf("  %s: {base_url: %q, api_key: %q, api_mode: %s}\n", name, url, key, mode)
	}
	h.write(t, config)
	return h
}

func (h home) write(t *testing.T, config string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(h.dir, ".hermes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, ".hermes", "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run is how the program ended.
type run struct {
	out, notes string
	status     int
	took       time.Duration
}

// ask runs the program in the home. It must end within ten minutes.
func (h home) ask(t *testing.T, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "HERMES_HOME=" + filepath.Join(h.dir, ".hermes"), "TERM=dumb", "LANG=C.UTF-8"}
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	began := time.Now()
	err := cmd.Run()
	exit, _ := errors.AsType[*exec.ExitError](err)
	if err != nil && (exit == nil || ctx.Err() != nil) {
		t.Fatalf("hermes %.100q: %v\n%s\n%s", args, err, out.String(), notes.String())
	}
	r := run{out.String(), notes.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
	t.Logf("hermes %.80q: status %d after %v\n%.600s\n%.900s", args, r.status, r.took.Round(100*time.Millisecond), r.out, r.notes)
	return r
}

// small is what keeps a request small enough for a slow machine.
var small = []string{"-t", "todo", "--ignore-rules"}

func (h home) say(t *testing.T, model, text string, more ...string) run {
	t.Helper()
	return h.ask(t, append(append([]string{"-z", text, "-m", model}, small...), more...)...)
}

// talks checks a conversation of two messages over a protocol.
func (h home) talks(t *testing.T, model string) {
	t.Helper()
	for _, more := range [][]string{nil, {"--continue"}} {
		if r := h.say(t, model, "Say hello.", more...); r.status != 0 || strings.TrimSpace(r.out) == "" {
			t.Errorf("%s %v: status %d, %q", model, more, r.status, r.out)
		}
	}
	if r := h.ask(t, "sessions", "export", "-"); strings.Count(r.out, "Say hello.") < 2 {
		t.Errorf("%s: the two messages are not in one stored session", model)
	}
}

// refused checks that a failure is told in plain words, at once.
func refused(t *testing.T, r run, key string, words ...string) {
	t.Helper()
	if r.status == 0 || strings.TrimSpace(r.out) != "" {
		t.Errorf("status %d, answer %q", r.status, r.out)
	}
	for _, w := range words {
		if !strings.Contains(r.notes, w) {
			t.Errorf("%q is not in the error: %s", w, r.notes)
		}
	}
	if key != "" && strings.Contains(r.out+r.notes, key) {
		t.Error("the key was shown")
	}
	if r.took > time.Minute {
		t.Errorf("it took %v", r.took)
	}
}
