package proc

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The collection of orphans. Children of this process are collected by those who
// started them, within milliseconds: what is still there after many looks is an
// orphan.
const (
	looks   = 5
	between = 2 * time.Second
)

// AdoptOrphans makes this process the parent of what its commands leave running
// when they end, instead of init. So the parents of everything that was started
// from here lead here while this process lives. It collects adopted processes when
// they end. The returned func ends the adoption; it may be called more than once.
func AdoptOrphans() (stop func()) { return adopt(between) }

func adopt(between time.Duration) (stop func()) {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return func() {} // an old kernel: init adopts them
	}
	ended, quit, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(ended, unix.SIGCHLD)
	go collect(ended, quit, done, between) // ends with stop
	return sync.OnceFunc(func() {
		signal.Stop(ended)
		close(quit)
		<-done
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	})
}

// collect looks for ended orphans after a child has ended, until there are none.
func collect(ended <-chan os.Signal, quit <-chan struct{}, done chan<- struct{}, between time.Duration) {
	defer close(done)
	for {
		select {
		case <-ended:
		case <-quit:
			return
		}
		for seen := (orphans{}); ; {
			select {
			case <-time.After(between):
			case <-quit:
				return
			}
			if !anyEnded() {
				break
			}
			for _, pid := range seen.look(zombies()) {
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
	}
}

// orphans counts how often an ended child was seen.
type orphans map[int]int

// look returns the ended children that no one else collects. It forgets those that
// are not there any more, so that a new process with an old id is a new one.
func (o orphans) look(ended []int) (left []int) {
	before := make(orphans, len(o))
	for pid, n := range o {
		before[pid] = n
	}
	clear(o)
	for _, pid := range ended {
		if o[pid] = before[pid] + 1; o[pid] >= looks {
			left = append(left, pid)
			delete(o, pid)
		}
	}
	return left
}

// anyEnded reports whether a child has ended and was not collected. It spares the
// look at all processes.
func anyEnded() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

func zombies() (pids []int) {
	self := os.Getpid()
	for _, p := range processes() {
		if p.parent == self && p.zombie {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
