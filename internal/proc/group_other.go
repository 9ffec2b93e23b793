//go:build unix && !linux

package proc

import (
	"errors"
	"os/exec"
	"syscall"
)

// configure gives the child its own session.
func configure(cmd *exec.Cmd, tty bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: tty}
}

// exited cannot wait without reaping the child on these systems.
func exited(int) bool { return false }

// strays is empty without /proc: processes that leave the group are not found.
func strays(int) []int { return nil }

// anyLiving cannot tell zombies apart: every member counts as living.
func anyLiving(int) bool { return true }

// confine returns an error instead of silently ignoring a limit.
func confine(_ int, l Limits) error {
	if l == (Limits{}) {
		return nil
	}
	return errors.New("limits for child processes are supported on Linux only")
}
