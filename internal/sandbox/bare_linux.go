//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
)

// Bare says whether this system has keepers without walls: those of the layer None. Such a
// keeper confines nothing. It is the parent of what it starts, and of everything that loses
// its parent below, so that it can end all of that, however it was detached. It does so when
// it is closed, and when its owner is killed.
const Bare = true

// keepBare is the keeper without walls. It needs no second start.
func keepBare(c *control, o order, fail func(error) error) error {
	// What ends programs of this user by name asks for the owner's end: the owner sees to this.
	// Ignoring these instead would go on to all programs.
	ended := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // as by nohup, which programs are to know of
			signal.Notify(ended, s)
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail(fmt.Errorf("adopt orphans: %w", err))
	}
	if o.name != "" {
		_ = os.WriteFile("/proc/self/comm", []byte(o.name), 0) // it is there for who looks at the processes
	}
	if err := c.socket.Close(); err != nil { // or each program would have it
		return fail(err)
	}
	return serve(c, o, handed{}, nil)
}

// Times of the end of what a keeper without walls started.
const (
	bareGrace = time.Second // between the signal to end and the forced end
	barePause = 10 * time.Millisecond
	bareSlow  = time.Second // between two tries, after many
	bareTries = 10 * time.Second
)

// endBare asks all below the keeper to end, then kills it, and returns when the kernel says
// that nothing is left. What the kernel cannot end it waits for: the owner, if it still
// lives, kills the keeper after some time, and says so.
func (k *keeper) endBare() {
	begin, asked := time.Now(), map[int]bool{}
	for ; !childless() && time.Since(begin) < bareGrace; time.Sleep(barePause) {
		k.ids.Lock()
		var list []int
		for _, pid := range childrenOf(os.Getpid()) {
			if !asked[pid] {
				asked[pid], list = true, append(list, pid)
			}
		}
		signalWithGroups(list, syscall.SIGTERM)
		signalWithGroups(list, syscall.SIGCONT) // a stopped process ends when it goes on
		k.ids.Unlock()
	}
	for pause := endPause / 40; !childless(); time.Sleep(pause) {
		k.kill()
		switch took := time.Since(begin); {
		case took > bareTries:
			pause = bareSlow
		case took > bareGrace+endTries:
			pause = barePause
		}
	}
}

// childrenOf lists the children of a process, also on a kernel that keeps no lists of them.
func childrenOf(pid int) []int {
	pids, err := proc.ChildrenOf(pid)
	if err != nil || len(pids) == 0 {
		pids = proc.Children(pid)
	}
	return pids
}
