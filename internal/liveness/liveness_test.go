package liveness_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"hermes/internal/liveness"
)

// holdAt makes the test binary a process that holds the lock of a file until it is ended.
const holdAt = "HERMES_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdAt); path != "" {
		if _, err := liveness.Hold(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// holder starts a process that holds the lock of a file.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), holdAt+"="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "held" {
		t.Fatalf("the other process says %q", lines.Text())
	}
	return c
}

func TestAProcessHasEndedWhenTheKernelSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "owner.lock")
	c := holder(t, path)
	if liveness.Ended(path) {
		t.Error("a living process has ended")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The process is a zombie until it is waited for. Its threads end one after another.
	for deadline := time.Now().Add(10 * time.Second); runtime.GOOS != "windows" && !liveness.Ended(path); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("a zombie lives")
		}
	}
	_ = c.Wait()
	if !liveness.Ended(path) {
		t.Error("a killed process lives")
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("asking changed the file: %v", err)
	}
}

func TestALockInThisProcessIsSeen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "owner.lock")
	l, err := liveness.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if liveness.Ended(path) {
		t.Error("this process has ended")
	}
	if _, err := liveness.Hold(path); err == nil {
		t.Error("two hold one file")
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file stays after its release: %v", err)
	}
}

// TestSeveralMayAskAtOnce: who asks does not look like the process that is asked about.
func TestSeveralMayAskAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "owner.lock")
	l, err := liveness.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Free(); err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 500 {
				if !liveness.Ended(path) {
					t.Error("a process that has ended lives")
					return
				}
			}
		})
	}
	asking.Wait()
}

// TestInDoubtTheProcessLives: a free lock says nothing without the rest.
func TestInDoubtTheProcessLives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"no file":               "",
		"not complete":          "\x00",
		"of another kernel":     "\x00linux 00000000-0000-0000-0000-000000000000",
		"of another machine":    "\x00windows elsewhere",
		"a file of another use": "something",
	} {
		path := filepath.Join(dir, name)
		if name != "no file" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if liveness.Ended(path) {
			t.Errorf("%s: the process has ended", name)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if liveness.Ended(filepath.Join(dir, "folder")) {
		t.Error("a folder is no lock")
	}
	if _, err := liveness.Hold(filepath.Join(dir, "none", "owner.lock")); err == nil {
		t.Error("there is a lock without a folder")
	}
}

// TestALinkIsNoLock: the file of an ended process behind a link proves nothing.
func TestALinkIsNoLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "owner.lock"), filepath.Join(dir, "link")
	c := holder(t, path)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if liveness.Ended(link) || !liveness.Ended(path) {
		t.Error("a link counts as a lock")
	}
}

// TestALockThatStaysIsFreeAfterItsProcess, whatever the file says.
func TestALockThatStaysIsFreeAfterItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		l, err := liveness.Take(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := liveness.Take(path); !errors.Is(err, os.ErrExist) {
			t.Errorf("two have it: %v", err)
		}
		if err := l.Free(); err != nil {
			t.Error(err)
		}
	}
	c := holder(t, path+"2")
	if _, err := liveness.Take(path + "2"); !errors.Is(err, os.ErrExist) {
		t.Errorf("another process has it: %v", err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if _, err := liveness.Take(path + "2"); err != nil {
		t.Error(err)
	}
}
