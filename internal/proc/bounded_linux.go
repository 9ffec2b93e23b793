package proc

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// boundEvery is how often processes are counted.
	boundEvery = 250 * time.Millisecond
	// boundEnd is how long what is too much is killed as fast as it can be, and boundSlow the pause between
	// two tries later.
	boundEnd  = 5 * time.Second
	boundSlow = time.Second
)

// Bounded bounds how many processes a program may have at once: one that has more is ended, with all of them.
// Nil bounds nothing.
type Bounded struct {
	most   int
	stderr *os.File     // of the program; nil has none
	over   atomic.Int64 // how many there might be when there were more; else 0
}

// NewBounded makes the bound of a program that is about to start; 0 bounds nothing. It copies stderr, which may be
// nil, to say there why the program was ended.
func NewBounded(most uint64, stderr *os.File) *Bounded {
	if most == 0 {
		return nil
	}
	b := &Bounded{most: int(min(most, 1<<20))}
	if stderr != nil {
		if fd, err := unix.FcntlInt(stderr.Fd(), unix.F_DUPFD_CLOEXEC, 3); err == nil {
			b.stderr = os.NewFile(uintptr(fd), "stderr")
		}
	}
	return b
}

// Watch counts the processes below one while running reports true. If they are too many, it calls end until
// running reports false, after 5 s once a second.
func (b *Bounded) Watch(of int, running func() bool, end func()) {
	if b == nil {
		return
	}
	most := func() int {
		if running() {
			return b.most
		}
		return 0
	}
	WatchBelow(of, most, func(time.Duration) (gone bool) {
		if !running() {
			return true
		}
		b.Exceeded(b.most)
		end()
		return false
	})
}

// WatchBelow counts the processes below one until most, which says how many there may be, is 0. If there are more,
// it calls end, with the time since the first call, until that reports that they are gone, after 5 s once a second.
// Then it counts on.
func WatchBelow(of int, most func() int, end func(took time.Duration) (gone bool)) {
	for n := most(); n > 0; n = most() {
		if all, _ := AllBelow(of, n+1); len(all) > n {
			pause := time.Millisecond
			for begin := time.Now(); !end(time.Since(begin)); time.Sleep(pause) {
				if time.Since(begin) > boundEnd { // such as what the kernel cannot end now
					pause = boundSlow
				}
			}
		}
		time.Sleep(boundEvery)
	}
}

// Most is how many processes there may be.
func (b *Bounded) Most() int { return b.most }

// Exceeded notes that there were more than most processes: Close says so.
func (b *Bounded) Exceeded(most int) { b.over.Store(int64(most)) }

// Close says on the standard error of the program why it was ended, if it was. Call it once the program has ended.
func (b *Bounded) Close() {
	if b == nil || b.stderr == nil {
		return
	}
	if most := b.over.Load(); most > 0 && unix.SetNonblock(int(b.stderr.Fd()), true) == nil { // whoever does not read is not waited for
		fmt.Fprintf(b.stderr, "\nit, and what ran beside it, was ended because there were more than %d processes at once\n", most)
	}
	b.stderr.Close()
}

// killTree kills a process and all below it. It stops them first: whose parent has ended is not found below it any
// more, and what runs may start another.
func killTree(of int) {
	stopped, calm := map[int]bool{}, 0
	for deadline := time.Now().Add(boundEnd); calm < 3 && time.Now().Before(deadline); calm++ {
		all, _ := AllBelow(of, 0)
		for _, pid := range append([]int{of}, all...) {
			if !stopped[pid] {
				_ = unix.Kill(pid, unix.SIGSTOP) // it may have ended
				stopped[pid], calm = true, -1
			}
			if !halted(pid) { // it may be starting another
				calm = -1
			}
		}
		time.Sleep(time.Millisecond)
	}
	for pid := range stopped { // none was collected: its parent does not run
		if pid != of {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	_ = unix.Kill(of, unix.SIGKILL)
}

// halted reports whether a process is stopped or has ended, with all its threads.
func halted(pid int) bool {
	p, ok := readStat(pid)
	if !ok || p.zombie || p.state == 'T' || p.state == 't' {
		return true
	}
	if p.state != 'Z' {
		return false
	}
	threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task") // its first one has ended, and others have not
	return !slices.ContainsFunc(threads, func(e os.DirEntry) bool {
		id, _ := strconv.Atoi(e.Name())
		p, ok := readStat(id)
		return ok && strings.IndexByte("TtZX", p.state) < 0
	})
}
