package codeexecution_test

import (
	"context"
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
		s.host.tool = func(ctx context.Context, name string, args map[string]any) (hermes.Result, error) {
			time.Sleep(300 * time.Millisecond) // the script ends meanwhile
			return echo(ctx, name, args)
		}
		s.kept("python", `
import threading
from hermes_tools import read_file
got = []
thread = threading.Thread(target=lambda: got.append(read_file("x")["args"]["path"]))
thread.start()
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
