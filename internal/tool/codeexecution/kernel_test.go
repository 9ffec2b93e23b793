package codeexecution_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/tool/codeexecution"
)

// kept runs a script in the kernel of its language.
func (s *scene) kept(language, code string) answer {
	s.Helper()
	a, err := s.call(s.Context(), map[string]any{"code": code, "language": language, "keep": true})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// TestAThreadOutlivesTheScriptOfAKernel: its call is answered, and the next script runs.
func TestAThreadOutlivesTheScriptOfAKernel(t *testing.T) {
	t.Parallel()
	everywhere(t, codeexecution.Config{Timeout: 10 * time.Second}, func(t *testing.T, s *scene) {
		begun := filepath.Join(t.TempDir(), "begun")
		s.host.tool = func(ctx context.Context, name string, args map[string]any) (hermes.Result, error) {
			if err := os.WriteFile(begun, nil, 0o600); err != nil {
				return hermes.Result{}, err
			}
			time.Sleep(300 * time.Millisecond) // the script ends meanwhile
			return echo(ctx, name, args)
		}
		s.kept("python", `
import os, threading, time
from hermes_tools import read_file
got = []
thread = threading.Thread(target=lambda: got.append(read_file("x")["args"]["path"]))
thread.start()
while not os.path.exists("`+begun+`"):
    time.sleep(0.01)
`)
		if a := s.kept("python", "thread.join(5)\nprint(got)"); a.Output != "['x']\n" {
			t.Errorf("got %+v", a)
		}
	})
}

// TestAForkedProcessIsNoKernel: it ends with the script that forked it.
func TestAForkedProcessIsNoKernel(t *testing.T) {
	t.Parallel()
	everywhere(t, codeexecution.Config{Timeout: 10 * time.Second}, func(t *testing.T, s *scene) {
		s.kept("python", "import os\nchild = os.fork()")
		for range 3 {
			if a := s.kept("python", "print(child > 0)"); a.Output != "True\n" {
				t.Errorf("got %+v", a)
			}
		}
		if a := s.kept("python", "print(os.waitpid(child, 0)[1])"); a.Output != "0\n" {
			t.Errorf("got %+v", a)
		}
	})
}

// TestAKernelEndsWhileItsScriptRuns: with its session, and with the program.
func TestAKernelEndsWhileItsScriptRuns(t *testing.T) {
	t.Parallel()
	for language, code := range map[string]string{
		"javascript": "await read_file('a'); for (;;) {}",
		"python":     "from hermes_tools import read_file\nread_file('a')\nwhile True: pass",
	} {
		s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
		began := make(chan struct{}, 1)
		s.host.tool = func(ctx context.Context, name string, args map[string]any) (hermes.Result, error) {
			began <- struct{}{}
			return echo(ctx, name, args)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			<-began
			s.set.Stop(hermes.SessionRef{ID: "s1"})
		}()
		a, err := s.call(t.Context(), map[string]any{"code": code, "language": language, "keep": true})
		if err != nil || a.Status != "error" || a.Calls != 1 || a.Error != "the kernel was ended. The kept variables are lost." {
			t.Errorf("%s: got %+v, error %v", language, a, err)
		}
		<-ended
	}
}

// TestAKernelThatIsLostIsFreed: engines that ran out of time do not pile up.
func TestAKernelThatIsLostIsFreed(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	before := resident(t)
	for range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		s.host.tool = func(context.Context, string, map[string]any) (hermes.Result, error) {
			cancel()
			return hermes.Result{Text: "{}"}, nil
		}
		a, err := s.call(ctx, map[string]any{"code": "const big = new Uint8Array(5e7).fill(1); await read_file('a'); for (;;) {}", "language": "javascript", "keep": true})
		if err != nil || a.Status != "interrupted" {
			t.Fatalf("got %+v, error %v", a, err)
		}
	}
	if grown := resident(t) - before; grown > 200 {
		t.Errorf("8 kernels of 50 MB that ended keep %d MB", grown)
	}
}

// resident is the memory of this process, in MB.
func resident(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}
