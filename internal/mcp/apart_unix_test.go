//go:build unix

package mcp_test

import (
	"os/exec"
	"syscall"
)

// apart gives a program a process group of its own, or a session.
func apart(c *exec.Cmd, session bool) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: !session, Setsid: session}
}
