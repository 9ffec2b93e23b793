//go:build amd64 || arm64

package confine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hermes/internal/confine"
	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestClosingSaysWhatAKilledKeeperLeft, also when another keeper was started since. This process adopts no orphans,
// so what the program detached is out of reach.
func TestClosingSaysWhatAKilledKeeperLeft(t *testing.T) {
	t.Parallel()
	b := confine.NewBare("")
	file := filepath.Join(t.TempDir(), "pid")
	for _, line := range []string{"(setsid sleep 1000 >/dev/null 2>&1 & echo $! > " + file + "); kill -KILL $PPID; exec sleep 1000", "true"} {
		start := func() (*proc.Process, error) {
			l, err := b.Launcher(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return proc.Start(context.Background(), proc.Command{Path: "/bin/sh", Args: []string{"-c", line}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Launcher: l})
		}
		p, err := start()
		if errors.Is(err, sandbox.ErrGone) { // the last one was still on its way out
			p, err = start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "may still run") {
		t.Errorf("closing says %v", err)
	}
}
