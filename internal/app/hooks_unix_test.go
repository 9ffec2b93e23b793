//go:build unix

package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/sandbox"
)

// withoutWalls has the programs of a scene run without walls, in a program that can end what they detach.
func withoutWalls(s *scene) {
	options := s.options
	s.options = func(o *app.Options) {
		if options != nil {
			options(o)
		}
		o.Sandbox.Keeper = true
	}
	s.config += "terminal: {sandbox: off}\n"
}

// TestAHookThatHangsIsEnded with all that it started; a guard refuses then, another hook is skipped.
func TestAHookThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.None, sandbox.B} {
		t.Run(layer.String(), func(t *testing.T) {
			t.Parallel()
			s := hooked(t, hermes.AllowOnce, `
hooks:
  pre_tool_call:
    - {matcher: write_file, command: "sh ./hang.sh", timeout: 1, fail_closed: true}
  post_tool_call:
    - {matcher: terminal, command: "sh ./hang.sh", timeout: 1}
`)
			if layer > sandbox.None {
				inWalls(t, s, layer)
			}
			s.write("stay.sh", "trap '' TERM HUP INT\necho $$ >> pids\nwhile :; do sleep 0.1; done")
			apart := "" // on other systems a program that leaves its group is not found without walls
			if layer > sandbox.None {
				apart = "setsid "
			} else if sandbox.Bare {
				apart = "setsid "
				withoutWalls(s)
			}
			s.write("hang.sh", apart+"sh ./stay.sh & sh ./stay.sh &\necho $$ >> pids\nexec sleep 1000")
			s.say(`CALL write_file {"path":"a.txt","content":"1"}`, `CALL terminal {"command":"echo words"}`)
			if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); err == nil {
				t.Error("a guard that hangs let a call pass")
			}
			if read := s.model.results(); !strings.Contains(read, "longer than 1s") || !strings.Contains(read, "words") {
				t.Errorf("read %s", read)
			}
			b, err := os.ReadFile(filepath.Join(s.dir, "pids"))
			if err != nil || len(strings.Fields(string(b))) < 2 {
				t.Fatalf("the scripts did not run: %q, %v", b, err)
			}
			for _, f := range strings.Fields(string(b)) {
				pid, err := strconv.Atoi(f)
				if err != nil {
					t.Fatal(err)
				}
				gone := func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
				for late := time.Now().Add(20 * time.Second); !gone() && time.Now().Before(late); {
					time.Sleep(10 * time.Millisecond)
				}
				if !gone() {
					t.Errorf("process %d still runs", pid)
				}
			}
		})
	}
}
