package proc

import (
	"os/exec"
	"sync"
)

// ownChildren are the children that someone here waits for. The collection of orphans
// leaves them alone, however long that takes.
type ownChildren struct {
	mu       sync.Mutex
	starting int         // children that may have ended before their ids are known
	pids     map[int]int // how often each id is in use: it may be used again before drop
	adopting bool        // orphans become children of this process
}

// own are all of them: the children of a process are one set, whoever started them.
var own = &ownChildren{pids: map[int]int{}}

// adopts notes whether orphans become children of this process.
func (o *ownChildren) adopts(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.adopting = on
}

// start starts a command and notes its id. The caller calls drop after it waited.
func (o *ownChildren) start(cmd *exec.Cmd, start func() error) error {
	o.mu.Lock()
	o.starting++
	o.mu.Unlock()
	err := start()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.starting--
	if err == nil {
		o.pids[cmd.Process.Pid]++
	}
	return err
}

// drop forgets a child that was waited for.
func (o *ownChildren) drop(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pids[pid]--; o.pids[pid] <= 0 {
		delete(o.pids, pid)
	}
}
