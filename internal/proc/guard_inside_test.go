//go:build unix

package proc

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// group starts a program in a group of its own.
func mustGroup(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "3000")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

// hasEnded reports whether a program has ended; it is not reaped yet.
func hasEnded(t *testing.T, c *exec.Cmd) bool {
	t.Helper()
	pid, err := syscall.Wait4(c.Process.Pid, nil, syscall.WNOHANG, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pid != 0
}

// An id may be reused by the time this process is killed, so the guard must have
// forgotten ended groups.
func TestGuardForgetsEndedGroups(t *testing.T) {
	t.Parallel()
	kept, ended := mustGroup(t), mustGroup(t)
	var g Guard
	for _, id := range []int{kept.Process.Pid, ended.Process.Pid} {
		g.add(id)
	}
	g.drop(kept.Process.Pid)
	g.to.Close() // as with the end of this process
	if state, err := ended.Process.Wait(); err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("the group in care ended with %v, %v", state, err)
	}
	if hasEnded(t, kept) {
		t.Error("the other one was ended, too")
	}
}

// A guard that was stopped must not take its dismissal for the end of this
// process.
func TestGuardThatDoesNotListenEndsNothing(t *testing.T) {
	t.Parallel()
	kept := mustGroup(t)
	var g Guard
	g.add(kept.Process.Pid)
	shell := func() *os.Process {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.shell
	}
	for shell() == nil {
		runtime.Gosched()
	}
	guard := shell()
	if err := guard.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	for g.send("del", 1) { // until the pipe is full and guardPatience is over
	}
	g.mu.Unlock()
	_ = guard.Signal(syscall.SIGCONT) // it has ended: nothing more can happen
	for guard.Signal(syscall.Signal(0)) == nil {
		runtime.Gosched()
	}
	if hasEnded(t, kept) {
		t.Error("the group was ended")
	}
	if shell() != nil {
		t.Error("the guard is still taken for one that listens")
	}
}

func TestCommandsAreGivenBackToTheGuard(t *testing.T) {
	t.Parallel()
	var g Guard
	p, err := Start(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "exit 3"}, Env: os.Environ(), Guard: &g})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if len(g.groups) != 0 {
		t.Errorf("still in care: %v", g.groups)
	}
	if g.to == nil {
		t.Fatal("no guard was started")
	}
	g.to.Close()
	if p, err = Start(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "exit 3"}, Env: os.Environ(), Guard: &g}); err != nil {
		t.Fatal("a guard that ended stops commands")
	}
	p.Close()
	if g.to == nil {
		t.Error("no new guard was started")
	}
}
