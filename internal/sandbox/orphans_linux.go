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

// keepers are the processes of keepers that this process started.
type keepers struct {
	mu     sync.Mutex
	living map[int]bool
}

// children are all of them: the children of a process are one set, whoever started them.
var children = &keepers{living: map[int]bool{}}

// start starts a keeper or its guard, and knows it before anyone looks for orphans. From
// the first one on, no other process of the user may look into this one.
func (h *keepers) start(l Layer, start func() (*proc.BareProcess, error)) (*proc.BareProcess, error) {
	if l == None {
		return start() // it hides nothing, and is found by no filter
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l == A && os.Geteuid() != 0 { // who may not be looked into cannot get the maps of a namespace
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }()
	c, err := start()
	if err == nil {
		h.living[c.Process.Pid] = true
	}
	return c, err
}

// ended forgets a keeper or its guard. If a guard was killed, what it guarded became
// children of this process, if it adopts orphans: they are killed until none runs. They
// are known by the filter that they cannot take off, which no other child has.
func (h *keepers) ended(pid int, runs func() bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.living, pid)
	own := -1
	for deadline := time.Now().Add(closeWait); runs(); time.Sleep(endPause / 40) {
		if time.Now().After(deadline) {
			return errLeft
		}
		if own < 0 {
			own = filters(os.Getpid())
		}
		for _, child := range proc.Children(os.Getpid()) {
			if !h.living[child] && filters(child) > own {
				signalWithGroups([]int{child}, syscall.SIGKILL)
			}
		}
	}
	return nil
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
