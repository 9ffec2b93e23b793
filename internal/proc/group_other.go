//go:build unix && !linux

package proc

import (
	"errors"
	"os/exec"
	"syscall"
)

// configure puts the child into a session of its own.
func configure(cmd *exec.Cmd, tty bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: tty}
}

// exited cannot wait without taking the child here.
func exited(int) bool { return false }

// strays is empty where there is no /proc: who leaves the group gets away.
func strays(int) []int { return nil }

// anyLiving takes every member of the group for a living one.
func anyLiving(int) bool { return true }

// confine refuses rather than leave a wished limit out in silence.
func confine(_ int, l Limits) error {
	if l == (Limits{}) {
		return nil
	}
	return errors.New("limits for child processes exist on Linux only")
}
