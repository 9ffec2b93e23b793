package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"hermes/internal/proc"
)

// Host starts the keepers of a program and knows those that live. A program has one;
// the zero value works.
type Host struct {
	mu     sync.Mutex
	living map[int]bool // process ids of keepers
}

func (h *Host) add(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.living == nil {
		h.living = map[int]bool{}
	}
	h.living[pid] = true
}

// ended forgets a keeper and kills what it left, in layer B: without their keeper, its
// processes became children of this one, if it adopts orphans. They are known by the
// filter that they cannot take off, which no other child has.
func (h *Host) ended(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.living, pid)
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
