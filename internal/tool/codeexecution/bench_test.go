package codeexecution_test

import (
	"context"
	"flag"
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
			s, first := benchScene(b)
			code := map[string]string{"python": "from hermes_tools import read_file\nread_file('x')", "javascript": "await read_file('x')"}[language]
			var sum time.Duration
			for b.Loop() {
				began := time.Now()
				*first = time.Time{}
				if _, err := s.call(b.Context(), map[string]any{"code": code, "language": language}); err != nil {
					b.Fatal(err)
				}
				sum += first.Sub(began)
			}
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(b.N), "ms/first-call")
		})
	}
}

// BenchmarkCall is one call of a running script.
func BenchmarkCall(b *testing.B) {
	for _, language := range []string{"python", "javascript"} {
		b.Run(language, func(b *testing.B) {
			s, _ := benchScene(b)
			code := map[string]string{
				"python": "from hermes_tools import read_file\nfor _ in range(1000): read_file('x')", "javascript": "for (let i = 0; i < 1000; i++) await read_file('x')",
			}[language]
			for b.Loop() {
				if _, err := s.call(b.Context(), map[string]any{"code": code, "language": language}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/1000/float64(b.N), "ms/call")
		})
	}
}

func benchScene(b *testing.B) (*benchmark, *time.Time) {
	b.Helper()
	program := interpreter(b)
	env, err := environment.NewLocal(environment.LocalConfig{Dir: b.TempDir(), Env: []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin"}})
	if err != nil {
		b.Fatal(err)
	}
	set := codeexecution.New(codeexecution.Config{MaxCalls: 1 << 30, Judge: func(*hermes.Call, string) []hermes.Risk { return nil }})
	b.Cleanup(func() { set.Close(); env.Close() })
	var first time.Time
	h := &host{env: env, specs: specs(), tool: func(context.Context, string, map[string]any) (hermes.Result, error) {
		if first.IsZero() {
			first = time.Now()
		}
		return hermes.Result{Text: "{}"}, nil
	}}
	tools, err := set.Tools(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return &benchmark{tools[0], h}, &first
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
