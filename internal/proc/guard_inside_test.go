//go:build unix

package proc

import (
	"os"
	"os/exec"
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

// A number that was given back may be another's by the time this process is
// killed: the guard must have forgotten it.
func TestGuardForgetsWhatWasGivenBack(t *testing.T) {
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
	if err := kept.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other one: %v", err)
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
		t.Fatal("a guard that is gone stops commands")
	}
	p.Close()
	if g.to == nil {
		t.Error("no new guard was started")
	}
}
