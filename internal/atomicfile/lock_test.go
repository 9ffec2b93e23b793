package atomicfile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/atomicfile"
)

func TestBusyErrorNamesTheHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	first, err := atomicfile.Acquire(t.Context(), path, "hermes config set", 0)
	must(t, err)
	_, err = atomicfile.Acquire(t.Context(), path, "hermes gateway", 30*time.Millisecond)
	var busy *atomicfile.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("got %v", err)
	}
	want := fmt.Sprintf("%s is in use by hermes config set (process %d,", path, os.Getpid())
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want it to begin with %q", err, want)
	}
	must(t, first.Release())
	second, err := atomicfile.Acquire(t.Context(), path, "hermes gateway", 0)
	must(t, err)
	must(t, second.Release())
}

// TestAWaiterGetsTheLockWhenItIsFree: not before, and not only at the end of its wait.
func TestAWaiterGetsTheLockWhenItIsFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) {
		first, err := atomicfile.Acquire(t.Context(), path, "one", 0)
		must(t, err)
		start, got := time.Now(), make(chan error, 1)
		go func() {
			second, err := atomicfile.Acquire(context.Background(), path, "two", 10*time.Second)
			if err == nil {
				err = second.Release()
			}
			got <- err
		}()
		time.Sleep(time.Second) // of the test's clock
		select {
		case err := <-got:
			t.Fatalf("the waiter ended while the lock was held: %v", err)
		default:
		}
		must(t, first.Release())
		must(t, <-got)
		if waited := time.Since(start); waited > 2*time.Second {
			t.Errorf("the lock was free after a second and taken after %v", waited)
		}
	})
}

// TestTheWaitEnds after the time that was asked for, and without a wait at once.
func TestTheWaitEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) {
		first, err := atomicfile.Acquire(t.Context(), path, "one", 0)
		must(t, err)
		defer first.Release()
		for _, wait := range []time.Duration{0, 10 * time.Second} {
			_, err := atomicfile.Acquire(t.Context(), path, "two", wait)
			var busy *atomicfile.BusyError
			if !errors.As(err, &busy) || busy.Waited != wait {
				t.Errorf("a wait of %v ended with %v", wait, err)
			}
		}
	})
}

func TestCancelEndsTheWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	first, err := atomicfile.Acquire(t.Context(), path, "one", 0)
	must(t, err)
	defer first.Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := atomicfile.Acquire(ctx, path, "two", time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestTheLockEndsWithItsProcess starts this test binary as a holder and kills it.
func TestTheLockEndsWithItsProcess(t *testing.T) {
	if path := os.Getenv("HOLD_LOCK"); path != "" {
		_, err := atomicfile.Acquire(context.Background(), path, "child", 0)
		fmt.Println("held", err)
		_, _ = io.Copy(io.Discard, os.Stdin) // until killed
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	child := exec.Command(os.Args[0], "-test.run=^TestTheLockEndsWithItsProcess$")
	child.Env = append(os.Environ(), "HOLD_LOCK="+path)
	stdin, err := child.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	if line != "held <nil>\n" {
		t.Fatalf("child said %q", line)
	}
	_, err = atomicfile.Acquire(t.Context(), path, "parent", 0)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("child (process %d", child.Process.Pid)) {
		t.Errorf("got %v", err)
	}
	must(t, child.Process.Kill())
	_ = child.Wait()
	l, err := atomicfile.Acquire(t.Context(), path, "parent", 10*time.Second)
	must(t, err)
	must(t, l.Release())
}
