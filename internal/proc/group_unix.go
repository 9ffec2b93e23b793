//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"
)

// endOfInput ends the input on a terminal: Ctrl+D.
const endOfInput = 4

// group is the session that a child leads. Its id is not reused while any member
// lives.
type group struct{ leader int }

func newGroup(p *os.Process) *group { return &group{leader: p.Pid} }

// signal asks all members to end, or kills them if force is set.
func (g *group) signal(force bool) {
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	// Find processes that left the group first: the links to them are lost when
	// their parents die.
	strays := strays(g.leader)
	_ = syscall.Kill(-g.leader, sig)
	for _, pid := range strays {
		_ = syscall.Kill(pid, sig)
	}
	if !force { // a stopped process acts on SIGTERM only when it continues
		_ = syscall.Kill(-g.leader, syscall.SIGCONT)
	}
}

// leftover reports whether the group still has members after its leader was
// reaped. If another process has the leader's id now, the group had ended.
// Zombies do not count, since in many containers no process reaps them.
func (g *group) leftover() bool {
	return exists(-g.leader) && !exists(g.leader) && anyLiving(g.leader)
}

// outlives reports whether the group still has members, including zombies, after
// its leader was reaped. While it has, its id is not reused.
func (g *group) outlives() bool { return exists(-g.leader) && !exists(g.leader) }

func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func (g *group) close() {}

// exitCode returns the exit code as a shell does: 128+n for signal n.
func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO)
}
