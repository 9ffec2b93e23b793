//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
)

// keepers are the process ids of the keepers of this process.
type keepers struct {
	mu     sync.Mutex
	living map[int]bool
	guard  proc.Guard // ends those of layer B with this process, also one that was stopped from inside
}

// children are all of them: the children of a process are one set, whoever started them.
var children = &keepers{living: map[int]bool{}}

// start starts a keeper, and knows it before anyone looks for orphans. From the first one
// on, no other process of the user may look into this one.
func (h *keepers) start(l Layer, start func() (*proc.BareProcess, error)) (*proc.BareProcess, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l == A && os.Geteuid() != 0 { // who may not be looked into cannot get the maps of a namespace
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }()
	c, err := start()
	if err == nil {
		h.living[c.Process.Pid] = true
		if l == B {
			h.guard.AddTree(c.Process.Pid)
		}
	}
	return c, err
}

// ended forgets a keeper and kills what it left, in layer B: without their keeper, its
// processes became children of this one, if it adopts orphans. They are known by the
// filter that they cannot take off, which no other child has.
func (h *keepers) ended(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.living, pid)
	h.guard.DropTree(pid)
	own := filters(os.Getpid())
	for range endRounds {
		found := false
		for _, child := range proc.Children(os.Getpid()) {
			if h.living[child] || filters(child) <= own {
				continue
			}
			found = true
			for _, pid := range append(proc.Descendants(child), child) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(endPause)
	}
}

// filters is how many seccomp filters a process has.
func filters(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if text, ok := bytes.CutPrefix(line, []byte("Seccomp_filters:")); ok {
			n, _ := strconv.Atoi(string(bytes.TrimSpace(text)))
			return n
		}
	}
	return 0
}
