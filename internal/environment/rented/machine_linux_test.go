package rented_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// machine runs commands for a server as a sandbox does: in a folder of its own, where what
// a command left running stays until the sandbox is stopped.
type machine struct {
	home, mark string
	mu         sync.Mutex
	running    map[*exec.Cmd]bool
	doomed     map[*exec.Cmd]bool // killed before they ran
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{home: t.TempDir(), mark: "SANDBOX_MARK=" + rand.Text(), running: map[*exec.Cmd]bool{}, doomed: map[*exec.Cmd]bool{}}
	t.Cleanup(m.stop) // before the folder is removed
	return m
}

// command makes a command of the sandbox.
func (m *machine) command(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = m.home
	c.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", m.mark}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// run starts a command, and returns its exit code as the shell tells it.
func (m *machine) run(c *exec.Cmd) int { return m.runSaying(c, func(int) {}) }

// runSaying is run, and tells the process id before any output.
func (m *machine) runSaying(c *exec.Cmd, begun func(pid int)) int {
	held := &sync.Mutex{}
	if c.Stdout == c.Stderr {
		c.Stdout = &heldBack{held, c.Stdout}
		c.Stderr = c.Stdout
	} else {
		c.Stdout, c.Stderr = &heldBack{held, c.Stdout}, &heldBack{held, c.Stderr}
	}
	held.Lock()
	err := c.Start()
	if err == nil {
		m.mu.Lock()
		m.running[c] = true
		if m.doomed[c] {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		}
		m.mu.Unlock()
		begun(c.Process.Pid)
	}
	held.Unlock()
	if err != nil {
		return 127
	}
	_ = c.Wait() // the state says how it ended
	m.mu.Lock()
	delete(m.running, c)
	delete(m.doomed, c)
	m.mu.Unlock()
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.ProcessState.ExitCode()
}

// heldBack writes nothing while it is locked.
type heldBack struct {
	held *sync.Mutex
	to   io.Writer
}

func (h *heldBack) Write(p []byte) (int, error) {
	h.held.Lock()
	defer h.held.Unlock()
	return h.to.Write(p)
}

// kill ends one command and what it started in its process group, also one that is about to start.
func (m *machine) kill(c *exec.Cmd) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[c] {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may have ended
		return
	}
	m.doomed[c] = true
}

// stop ends everything that runs in the sandbox.
func (m *machine) stop() {
	for m.signal(syscall.SIGKILL) > 0 {
	}
}

// signal returns how many processes of the sandbox it reached.
func (m *machine) signal(s syscall.Signal) int {
	found := 0
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(env, []byte(m.mark)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && syscall.Kill(pid, s) == nil {
			found++
		}
	}
	return found
}

// write puts a file into the sandbox; relative paths begin at its home.
func (m *machine) write(path string, data []byte) error {
	path = m.path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func (m *machine) path(path string) string {
	if !filepath.IsAbs(path) {
		return filepath.Join(m.home, path)
	}
	return path
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]any{"statusCode": status, "message": why, "error": map[string]string{"message": why}})
}

func decode(r *http.Request, into any) bool { return json.NewDecoder(r.Body).Decode(into) == nil }

// record remembers the requests to a server, and lets a test answer instead of it.
type record struct {
	mu    sync.Mutex
	lines []string
	// answer, if set, replaces an answer; it returns false to let the server answer.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func (rec *record) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec.mu.Lock()
		rec.lines = append(rec.lines, r.Method+" "+r.URL.Path)
		answer := rec.answer
		rec.mu.Unlock()
		if answer != nil && answer(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// instead sets what answers instead of the server; nil is the server itself.
func (rec *record) instead(answer func(http.ResponseWriter, *http.Request) bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.answer = answer
}

// count returns how many requests had a method and a path that contains a text.
func (rec *record) count(method, part string) int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	n := 0
	for _, line := range rec.lines {
		if strings.HasPrefix(line, method+" ") && strings.Contains(line, part) {
			n++
		}
	}
	return n
}
