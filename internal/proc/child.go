package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// hostChild is a child of this process.
type hostChild struct {
	cmd     *exec.Cmd
	group   *group
	guard   *Guard
	closing sync.Once
	closed  chan struct{}
	bound   *Bounded
	reaped  atomic.Bool // or about to be
}

// hostCommand prepares a command as a direct child of this process.
func hostCommand(c Command) *exec.Cmd {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.ExtraFiles = c.Files
	configure(cmd, c.Terminal != nil)
	return cmd
}

// started sets up the group, the guard and the limits of a started child.
func started(cmd *exec.Cmd, c Command) (Child, error) {
	h := &hostChild{cmd: cmd, group: newGroup(cmd.Process), guard: c.Guard, closed: make(chan struct{})}
	h.guard.add(h.PID())
	err := confine(cmd.Process.Pid, c.Limits)
	if err == nil {
		stderr, _ := cmd.Stderr.(*os.File) // of a terminal there is none
		if h.bound = NewBounded(c.Limits.Processes, stderr); h.bound != nil {
			go h.bound.Watch(h.PID(), func() bool { return !h.reaped.Load() }, func() { killTree(h.PID()); h.group.signal(true) }) // ends with the child
		}
		return h, nil
	}
	h.group.signal(true)
	_, _ = cmd.Process.Wait()
	own.drop(h.PID())
	h.guard.drop(h.PID())
	h.group.close()
	return nil, fmt.Errorf("limit the child process: %w", err)
}

// PID is the process id of the child.
func (h *hostChild) PID() int { return h.cmd.Process.Pid }

// Wait waits for the child itself, not for other processes of its group.
func (h *hostChild) Wait() int {
	if exited(h.PID()) { // before its id can be reused
		h.reaped.Store(true)
		h.guard.drop(h.PID())
	}
	state, _ := h.cmd.Process.Wait()
	h.reaped.Store(true)
	h.bound.Close()
	own.drop(h.PID())
	h.guard.drop(h.PID())
	if h.group.outlives() {
		h.guard.add(h.PID())
		go h.watch() // ends with the group or Close
	}
	return exitCode(state)
}

// watch removes the group from the guard when its last member has ended.
func (h *hostChild) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for h.group.outlives() {
		select {
		case <-tick.C:
		case <-h.closed:
			return
		}
	}
	h.guard.drop(h.PID())
}

// Signal signals the group and what left it.
func (h *hostChild) Signal(force bool) { h.group.signal(force) }

// Left reports whether the group still has members.
func (h *hostChild) Left() bool { return h.group.leftover() }

// Close ends the watch over the group.
func (h *hostChild) Close() {
	h.closing.Do(func() { close(h.closed) })
	h.guard.drop(h.PID())
	h.group.close()
}
