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

// guardScript reads "add ID" and "del ID" until its input ends. Then it ends the
// remaining groups with TERM, and a second later with KILL.
//
//go:embed guard.sh
var guardScript string

// guardPatience is how long a message to the guard may block. The pipe holds
// thousands of messages, so it blocks only if the guard was stopped.
const guardPatience = 2 * time.Second

// Guard ends the commands of this process and everything that they started if
// this process is killed. It is a small shell, started with the first command,
// that reads from a pipe whose other end only this process has: when the pipe
// ends, this process has ended. The zero value works; a nil Guard does nothing.
// Its methods may be called concurrently.
//
// A group is guarded from the start of its leader until its id could be reused.
// Processes that left the group, as daemons do, are not guarded.
type Guard struct {
	mu     sync.Mutex
	to     *os.File    // nil: no guard runs
	shell  *os.Process // the reader of to; nil until it has started
	groups map[int]struct{}
}

// add guards a group. It does not wait for the guard to start.
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
	if g.to != nil && g.send("add", id) {
		return
	}
	g.begin()
}

// drop stops guarding a group.
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
		g.send("del", id)
	}
}

// send writes a message to the guard. Call it with the lock held. A guard that
// does not read is killed before its pipe is closed: it would mistake the end of
// the pipe for the end of this process.
func (g *Guard) send(what string, id int) bool {
	_ = g.to.SetWriteDeadline(time.Now().Add(guardPatience))
	if _, err := g.to.WriteString(what + " " + strconv.Itoa(id) + "\n"); err == nil {
		return true
	}
	if g.shell != nil {
		_ = g.shell.Kill() // it may have ended already
	}
	g.to.Close()
	g.to, g.shell = nil, nil
	return false
}

// begin starts a guard for all groups. Call it with the lock held. If none can be
// started, commands run unguarded.
func (g *Guard) begin() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	g.to = w
	for _, id := range slices.Sorted(maps.Keys(g.groups)) {
		if !g.send("add", id) {
			break
		}
	}
	go g.listen(r, w)
}

// listen runs the shell that reads what is written to w. It returns when the shell
// ends, which is when the pipe ends.
func (g *Guard) listen(r, w *os.File) {
	defer r.Close()
	c := exec.Command("/bin/sh", "-c", guardScript, "hermes-guard")
	c.Stdin, c.Dir, c.Env = r, "/", []string{"PATH=/usr/bin:/bin"}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals of the terminal do not end it
	if own.start(c, c.Start) != nil {
		return
	}
	defer own.drop(c.Process.Pid)
	g.mu.Lock()
	if g.to == w {
		g.shell = c.Process
	} else { // dropped before it started
		_ = c.Process.Kill()
	}
	g.mu.Unlock()
	_ = c.Wait()
}
