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

// walled is an environment with a sandbox that a test changes.
type walled struct {
	hermes.Environment
	is   hermes.Description
	mark string
}

func (w *walled) WallsMark() string { return w.mark }

func (w *walled) Describe(context.Context) hermes.Description { return w.is }

// TestAKernelIsReplacedIfItsBoundsAreOthers: those of the sandbox. It goes along to another folder. The
// model is told, and the old one has ended before the script runs.
func TestAKernelIsReplacedIfItsBoundsAreOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
	local := s.host.env
	w := &walled{Environment: local, is: hermes.Description{Network: hermes.NetworkOff, Writable: []string{"/a"}, Isolation: hermes.Isolation{Layer: "A", Holds: true}}}
	s.host.env, s.host.mode = w, hermes.ModeAsk
	cd := func(dir string) {
		t.Helper()
		if exit, err := local.Exec(t.Context(), hermes.Command{Line: "mkdir -p " + dir + " && cd " + dir, Keep: true}); err != nil || exit.Code != 0 {
			t.Fatal(exit, err)
		}
	}
	pid := ""
	for _, c := range []struct {
		change func()
		why    string // "" keeps the kernel
	}{
		{func() {}, ""},
		{func() { cd("sub") }, ""}, // it goes there
		{func() { cd(".") }, ""},
		{func() { w.is.Network = hermes.NetworkHost }, "the sandbox is another one now."},
		{func() { w.is.Writable = nil }, "the sandbox is another one now."},
		{func() { w.mark = "read:/a" }, "the sandbox is another one now."},
		{func() { w.mark = "" }, "the sandbox is another one now."}, // it was revoked
		{func() { w.is.Isolation.Layer = "B" }, "the sandbox is another one now."},
		{func() { s.host.mode = hermes.ModeAcceptEdits }, ""},
		{func() {}, ""},
	} {
		if a := s.kept("python", "import os\nn = 1\nprint(os.getpid())"); a.Status != "success" || a.Note != "" {
			t.Fatalf("got %+v", a)
		} else {
			pid = strings.TrimSpace(a.Output)
		}
		c.change()
		a := s.kept("python", "import os\nprint('n' in globals(), os.path.exists('/proc/"+pid+"'), os.getcwd())")
		dir, err := local.Files().Resolve(".")
		if err != nil {
			t.Fatal(err)
		}
		want := "True True " + dir + "\n"
		if c.why != "" {
			want = "False False " + dir + "\n"
		}
		if a.Status != "success" || a.Output != want || !strings.Contains(a.Note, c.why) || (a.Note == "") != (c.why == "") {
			t.Errorf("%q: got %+v, want %q", c.why, a, want)
		}
		if c.why != "" && !strings.HasPrefix(a.Note, "The variables that were kept before this script are lost, since ") {
			t.Errorf("the note is %q", a.Note)
		}
	}
	s.host.mode = hermes.ModeAsk
	s.kept("javascript", "var n = 1")
	s.host.mode = hermes.ModeAcceptEdits
	if a := s.kept("javascript", "print(n)"); a.Output != "1\n" || a.Note != "" { // it reaches tools alone
		t.Errorf("got %+v", a)
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
