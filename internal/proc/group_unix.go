//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"
)

// endOfInput is what ends the input on a terminal: Ctrl+D.
const endOfInput = 4

// group is the session that a child leads. No other process can get its
// number while any member lives.
type group struct{ leader int }

func newGroup(p *os.Process) *group { return &group{leader: p.Pid} }

// signal asks all members to end, or with force makes them.
func (g *group) signal(force bool) {
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	// Those who left the group are looked for first: the links to them break
	// when their parents die.
	strays := strays(g.leader)
	_ = syscall.Kill(-g.leader, sig)
	for _, pid := range strays {
		_ = syscall.Kill(pid, sig)
	}
	if !force { // a stopped process acts on SIGTERM only when it goes on
		_ = syscall.Kill(-g.leader, syscall.SIGCONT)
	}
}

// leftover reports whether the group still has members after its leader was
// waited for. A process that has the leader's number now is a stranger, and
// proves that the group had died out; zombies do not count, since in many
// containers nobody collects them.
func (g *group) leftover() bool {
	return exists(-g.leader) && !exists(g.leader) && anyLiving(g.leader)
}

// outlives reports whether the group still has members, zombies included,
// after its leader was waited for. Until it has none, nobody gets its number.
func (g *group) outlives() bool { return exists(-g.leader) && !exists(g.leader) }

func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func (g *group) close() {}

// exitCode follows the shell: 128+n for signal n.
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
