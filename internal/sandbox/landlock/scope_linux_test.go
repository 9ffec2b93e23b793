package landlock_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"hermes/internal/sandbox/landlock"
)

// TestSignalsStayInside restricts a thread, which ends with the test.
func TestSignalsStayInside(t *testing.T) {
	t.Parallel()
	if abi, err := landlock.ABI(); !landlock.ScopesSignals(abi) {
		t.Skipf("ABI %d, %v", abi, err)
	}
	dir := t.TempDir()
	for _, path := range []string{"a/file", "b"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for ever: the thread ends
		owner := os.Getppid()
		if err := syscall.Kill(owner, 0); err != nil {
			t.Error(err)
		}
		if err := landlock.ScopeSignals(); err != nil {
			t.Error(err)
			return
		}
		if err := syscall.Kill(owner, 0); !errors.Is(err, syscall.EPERM) {
			t.Errorf("a signal to a process outside: got %v, want %v", err, syscall.EPERM)
		}
		child, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "1000"}, &syscall.ProcAttr{})
		if err != nil {
			t.Error(err)
			return
		}
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
			t.Errorf("a signal to a child: %v", err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(child, &status, 0, nil); err != nil || status.Signal() != syscall.SIGKILL {
			t.Errorf("it ended with %v, %v", status, err)
		}
		if err := landlock.Restrict(landlock.Rules{Write: []string{dir}}); err != nil {
			t.Error(err)
		}
		if err := os.Rename(filepath.Join(dir, "a", "file"), filepath.Join(dir, "b", "file")); err != nil {
			t.Errorf("more than signals is restricted: %v", err)
		}
	}()
	<-done
}
