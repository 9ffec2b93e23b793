package codeexecution_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/tool/codeexecution"
)

var many = flag.Int("scripts", 60, "how many scripts TestManyScriptsLeaveNothing runs in each language")

// TestManyScriptsLeaveNothing counts processes, open files, goroutines and folders.
func TestManyScriptsLeaveNothing(t *testing.T) {
	temp := t.TempDir()
	env, err := environment.NewLocal(environment.LocalConfig{Dir: t.TempDir(), Env: append(os.Environ(), "TMPDIR="+temp)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { env.Close() })
	for _, strict := range []bool{false, true} {
		s := newScene(t, codeexecution.Config{Strict: strict})
		s.host.env = env
		run := func() {
			s.run("from hermes_tools import read_file\nread_file('x')")
			s.js("await read_file('x')")
		}
		run()
		files, goroutines := opened(t), runtime.NumGoroutine()
		for range *many {
			run()
		}
		if now := opened(t); now > files+2 {
			t.Errorf("%d files are open, were %d", now, files)
		}
		if now := runtime.NumGoroutine(); now > goroutines+5 {
			t.Errorf("%d goroutines, were %d", now, goroutines)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
	out, err := exec.Command("ps", "-o", "stat=,args=", "--ppid", strconv.Itoa(os.Getpid())).Output()
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "Z") && strings.Contains(line, "python") {
			t.Errorf("still runs: %s (%v)", line, err)
		}
	}
}

// opened is how many files this process has open.
func opened(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(all)
}

// interpreter is the Python behind what the path names, which may be a shim.
func interpreter(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		b.Skip(err)
	}
	return strings.TrimSpace(string(out))
}

// BenchmarkFirstCall is the time from the start of a script to its first call, beside the
// start of a Python that does nothing.
func BenchmarkFirstCall(b *testing.B) {
	program := interpreter(b)
	b.Run("python3 -c pass", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(program, "-c", "pass").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, language := range []string{"python", "javascript"} {
		b.Run(language, func(b *testing.B) {
			s, times := benchScene(b)
			code := map[string]string{"python": "from hermes_tools import read_file\nread_file('x')", "javascript": "await read_file('x')"}[language]
			var sum time.Duration
			for b.Loop() {
				began := time.Now()
				*times = callTimes{}
				if _, err := s.call(b.Context(), map[string]any{"code": code, "language": language}); err != nil {
					b.Fatal(err)
				}
				sum += times.first.Sub(began)
			}
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(b.N), "ms/first-call")
		})
	}
}

// BenchmarkCall is one call of a running script: what lies between its first and its last call,
// divided by their number. Beside it a Python sends a line to a program and reads one back.
func BenchmarkCall(b *testing.B) {
	const calls = 2000
	b.Run("a line there and back", func(b *testing.B) {
		var sum time.Duration
		for b.Loop() {
			sum += linesThereAndBack(b, calls)
		}
		b.ReportMetric(float64(sum.Microseconds())/1000/calls/float64(b.N), "ms/call")
	})
	for _, language := range []string{"python", "javascript"} {
		b.Run(language, func(b *testing.B) {
			s, times := benchScene(b)
			code := fmt.Sprintf(map[string]string{
				"python": "from hermes_tools import read_file\nfor _ in range(%d): read_file('x')", "javascript": "for (let i = 0; i < %d; i++) await read_file('x')",
			}[language], calls)
			var sum time.Duration
			for b.Loop() {
				*times = callTimes{}
				if _, err := s.call(b.Context(), map[string]any{"code": code, "language": language}); err != nil {
					b.Fatal(err)
				}
				sum += times.last.Sub(times.first)
			}
			b.ReportMetric(float64(sum.Microseconds())/1000/(calls-1)/float64(b.N), "ms/call")
		})
	}
}

// linesThereAndBack is how long a Python takes to send lines and to read an answer to each.
func linesThereAndBack(b *testing.B, lines int) time.Duration {
	b.Helper()
	cmd := exec.Command(interpreter(b), "-c", fmt.Sprintf("import os\nfor _ in range(%d): os.write(1, b'line\\n'); os.read(0, 100)", lines))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	var began time.Time
	for from := bufio.NewScanner(out); from.Scan(); {
		if began.IsZero() {
			began = time.Now()
		}
		if _, err := in.Write([]byte("line\n")); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// callTimes are when the tools of a script ran.
type callTimes struct{ first, last time.Time }

func benchScene(b *testing.B) (*benchmark, *callTimes) {
	b.Helper()
	program := interpreter(b)
	env, err := environment.NewLocal(environment.LocalConfig{Dir: b.TempDir(), Env: []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin"}})
	if err != nil {
		b.Fatal(err)
	}
	set := codeexecution.New(codeexecution.Config{MaxCalls: 1 << 30, Judge: func(*hermes.Call, string) []hermes.Risk { return nil }})
	b.Cleanup(func() { set.Close(); env.Close() })
	var times callTimes
	h := &host{env: env, specs: specs(), tool: func(context.Context, string, map[string]any) (hermes.Result, error) {
		times.last = time.Now()
		if times.first.IsZero() {
			times.first = times.last
		}
		return hermes.Result{Text: "{}"}, nil
	}}
	tools, err := set.Tools(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return &benchmark{tools[0], h}, &times
}

type benchmark struct {
	tool hermes.Tool
	host hermes.Host
}

func (s *benchmark) call(ctx context.Context, args map[string]any) (hermes.Result, error) {
	text, err := jsonOf(args)
	if err != nil {
		return hermes.Result{}, err
	}
	return s.tool.Run(ctx, &hermes.Call{ID: "c", Name: "execute_code", Host: s.host, Arguments: []byte(text)})
}
