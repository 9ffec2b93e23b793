//go:build unix

package proc

import (
	_ "embed"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// guardScript reads "add ID" and "del ID" until the end of its input, and then
// ends the groups that are left: by TERM, and a second later by KILL.
//
//go:embed guard.sh
var guardScript string

// guardPatience is how long a message to the guard may wait. The pipe holds
// thousands of them, so that only a guard which was stopped makes anyone wait.
const guardPatience = 2 * time.Second

// Guard ends the commands of this process, with all that they started, should
// this process be killed without a word. It is one small shell that is started
// with the first command and reads from a pipe whose other end only this
// process holds: when the pipe ends, this process is gone. The zero value and
// nil work; nil guards nothing. Its methods may be called concurrently.
//
// A group is in its care from the start of its leader until its number could
// be given to somebody else. Who left the group, as daemons do, is not.
type Guard struct {
	mu     sync.Mutex
	to     *os.File    // nil: no guard runs
	shell  *os.Process // at the other end of to; nil until it has started
	groups map[int]struct{}
}

// add takes a group into care. It does not wait for the guard to start.
func (g *Guard) add(id int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[int]struct{}{}
	}
	g.groups[id] = struct{}{}
	if g.to != nil && g.tell("add", id) {
		return
	}
	g.begin()
}

// drop takes a group out of care.
func (g *Guard) drop(id int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.groups[id]; !ok {
		return
	}
	delete(g.groups, id)
	if g.to != nil {
		g.tell("del", id)
	}
}

// tell needs the lock. A guard that does not listen is ended first and let go
// then: it would take the end of the pipe for the end of this process.
func (g *Guard) tell(what string, id int) bool {
	_ = g.to.SetWriteDeadline(time.Now().Add(guardPatience))
	if _, err := g.to.WriteString(what + " " + strconv.Itoa(id) + "\n"); err == nil {
		return true
	}
	if g.shell != nil {
		_ = g.shell.Kill() // it may be gone already
	}
	g.to.Close()
	g.to, g.shell = nil, nil
	return false
}

// begin starts a guard for all groups. It needs the lock. Where none can be
// started, commands run unguarded: that is no reason not to run them.
func (g *Guard) begin() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	g.to = w
	for _, id := range slices.Sorted(maps.Keys(g.groups)) {
		if !g.tell("add", id) {
			break
		}
	}
	go g.listen(r, w)
}

// listen runs the shell that reads what is written to w. It ends with the
// guard, which ends with the pipe.
func (g *Guard) listen(r, w *os.File) {
	defer r.Close()
	c := exec.Command("/bin/sh", "-c", guardScript, "hermes-guard")
	c.Stdin, c.Dir, c.Env = r, "/", []string{"PATH=/usr/bin:/bin"}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of the terminal ends it
	if c.Start() != nil {
		return
	}
	g.mu.Lock()
	if g.to == w {
		g.shell = c.Process
	} else { // let go before it began
		_ = c.Process.Kill()
	}
	g.mu.Unlock()
	_ = c.Wait()
}
