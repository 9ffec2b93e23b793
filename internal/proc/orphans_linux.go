package proc

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The collection of what may be a child that this package does not know, such as an
// editor: whoever started it collects it within milliseconds, and what is still there
// after many looks is an orphan.
const (
	looks   = 5
	between = 2 * time.Second
)

// passPause is between two collections, so that many orphans cost little.
const passPause = 2 * time.Millisecond

// AdoptOrphans makes this process the parent of what its commands leave running
// when they end, instead of init. So the parents of everything that was started
// from here lead here while this process lives. It collects adopted processes when
// they end. The returned func ends the adoption; it may be called more than once.
func AdoptOrphans() (stop func()) { return adopt(between) }

func adopt(between time.Duration) (stop func()) {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return func() {} // an old kernel: init adopts them
	}
	own.adopts(true)
	ended, quit, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(ended, unix.SIGCHLD)
	go collect(ended, quit, done, between) // ends with stop
	return sync.OnceFunc(func() {
		signal.Stop(ended)
		close(quit)
		<-done
		own.adopts(false)
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	})
}

// Adopts reports whether [AdoptOrphans] is in force.
func Adopts() bool {
	own.mu.Lock()
	defer own.mu.Unlock()
	return own.adopting
}

// collect collects orphans when they end, and looks again later at what may be none.
func collect(ended <-chan os.Signal, quit <-chan struct{}, done chan<- struct{}, between time.Duration) {
	defer close(done)
	var again, later <-chan time.Time
	for seen := (orphans{}); ; {
		look := false
		select {
		case <-ended:
		case <-again:
		case <-later:
			later, look = nil, true
		case <-quit:
			return
		}
		again = nil
		if !anyEnded() {
			clear(seen)
			continue
		}
		doubtful, busy := own.collectOrphans()
		if busy {
			again = time.After(passPause)
			continue
		}
		if look {
			for _, pid := range seen.look(doubtful) {
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
		if len(doubtful) > 0 && later == nil {
			later = time.After(between)
		}
		select {
		case <-time.After(passPause):
		case <-quit:
			return
		}
	}
}

// collectOrphans collects ended children whose parent was another process. A child that
// this process started is either known, or in its session: all that begin a session of
// their own are started by this package. Those in its session that are not known are
// returned. It does nothing while a child is being started.
func (o *ownChildren) collectOrphans() (doubtful []int, busy bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.starting > 0 {
		return nil, true
	}
	session, err := unix.Getsid(0)
	for _, p := range endedChildren() {
		switch {
		case o.pids[p.pid] > 0:
		case p.session == session || err != nil:
			doubtful = append(doubtful, p.pid)
		default:
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
	return doubtful, false
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
// look at all children.
func anyEnded() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// endedChildren lists the children that have ended and were not collected.
func endedChildren() (found []process) {
	self := os.Getpid()
	if !ListsChildren() {
		all, _ := processes()
		for _, p := range all {
			if p.parent == self && p.zombie {
				found = append(found, p)
			}
		}
		return found
	}
	pids, _ := ChildrenOf(self)
	for _, pid := range pids {
		if p, ok := readStat(pid); ok && p.zombie {
			found = append(found, p)
		}
	}
	return found
}

// orphanWait is how long EndOrphans tries.
const orphanWait = 3 * time.Second

// EndOrphans ends what this process has adopted, and all below it: what commands left
// running when they ended. It fails if some of it still runs after 3 s. Without
// [AdoptOrphans] it does nothing.
func EndOrphans() error {
	calm := 0
	for deadline := time.Now().Add(orphanWait); ; time.Sleep(passPause) {
		left, busy := own.adopted()
		if len(left) > 0 || busy {
			calm = 0
		} else if calm++; calm > 1 { // one look misses what is adopted during it
			return nil
		}
		for _, pid := range left {
			for _, below := range Descendants(pid) {
				_ = unix.Kill(below, unix.SIGKILL)
			}
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if calm == 0 && time.Now().After(deadline) {
			return fmt.Errorf("%d processes that a command left running do not end", len(left))
		}
	}
}

// adopted lists the living children that this process did not start. It does not know
// while one is being started.
func (o *ownChildren) adopted() (pids []int, busy bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.starting > 0 {
		return nil, true
	}
	session, err := unix.Getsid(0)
	for _, pid := range Children(os.Getpid()) {
		if p, ok := readStat(pid); ok && o.pids[pid] == 0 && (err != nil || p.session != session) {
			pids = append(pids, pid)
		}
	}
	return pids, false
}
