//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"maps"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"hermes/internal/proc"
	"hermes/internal/sandbox/landlock"
)

// Times of the end of what is inside.
const (
	endPause = 2 * time.Millisecond
	endTries = time.Second // without a longer pause
	// freezeWait bounds the stopping of all. It is shorter than the owner's patience.
	freezeWait = 3 * time.Second
)

// endAll kills everything below the keeper. Its guard does the same, and without time limit:
// this is for one that was killed. In layer A the kernel does it.
func (k *keeper) endAll() {
	if k.layer == A {
		return
	}
	for deadline := time.Now().Add(endTries); !childless() && time.Now().Before(deadline); time.Sleep(endPause / 40) {
		if k.onlyInside {
			_ = syscall.Kill(-1, syscall.SIGKILL) // not this process
			continue
		}
		killChildren()
	}
}

var errNotFrozen = errors.New("the processes of the session start new ones faster than they can be stopped")

// onlyInside reports whether signals to all reach only what is inside, and not the other
// processes of the user: so it is for the first process of a namespace, and from Landlock
// ABI 6 on, where the owner proves it, which is of the same user.
func onlyInside(o order) bool {
	switch o.policy.Layer {
	case A:
		return os.Getpid() == 1
	case B:
		abi, _ := usedABI(o.abi)
		return landlock.ScopesSignals(abi) && errors.Is(syscall.Kill(o.target.Owner, 0), syscall.EPERM)
	}
	return false
}

// freeze stops all members, and what they start meanwhile, until none runs. Members may
// wake each other, so that each looks stopped when it is looked at. Two looks at all of
// them that agree, also on how often each ran, show that all were stopped between the
// two: and what is stopped wakes no one. One that waits in the kernel is told to stop in
// each round, the last time when no one can undo that: it stops before it runs on.
func (k *keeper) freeze() error {
	var last map[string]int64
	for deadline := time.Now().Add(freezeWait); time.Now().Before(deadline); {
		seen, running := map[string]int64{}, false
		for _, pid := range proc.Descendants(os.Getpid()) {
			runs, waits := look(pid, seen)
			if !runs && !waits {
				continue
			}
			running = running || runs
			if syscall.Kill(pid, syscall.SIGSTOP) == nil {
				k.stopped[pid] = true
			}
		}
		switch {
		case running:
			last = nil
			time.Sleep(endPause / 4)
		case last != nil && maps.Equal(last, seen):
			return nil
		default:
			last = seen
		}
	}
	k.thaw()
	return errNotFrozen
}

// thaw lets those go on that freeze stopped.
func (k *keeper) thaw() {
	for pid := range k.stopped {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	clear(k.stopped)
}

// look reports whether a thread of a process runs, and whether one waits in the kernel, as
// a program does after vfork for its stopped child. It notes how often each gave up its
// processor.
func look(pid int, seen map[string]int64) (runs, waits bool) {
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(folder)
	if err != nil { // it has gone
		return false, false
	}
	for _, e := range entries {
		b, err := os.ReadFile(folder + "/" + e.Name() + "/status")
		if err != nil {
			continue
		}
		var s status
		for line := range bytes.Lines(b) {
			s.read(line)
		}
		switch s.state {
		case 'T', 't', 'Z', 'X':
		case 'D':
			waits = true
		default:
			runs = true
		}
		seen[e.Name()] = s.switches
	}
	return runs, waits
}

// status is what the kernel says of a thread.
type status struct {
	state    byte
	switches int64 // how often it gave up its processor
}

func (s *status) read(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "State":
		if len(value) > 0 {
			s.state = value[0]
		}
	case "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches":
		n, _ := strconv.ParseInt(string(value), 10, 64)
		s.switches += n
	}
}

// dialLoopback connects to a port of this network's loopback.
func dialLoopback(port int) (*os.File, error) {
	if port < 1 || port > 65535 {
		return nil, syscall.EINVAL
	}
	var last error
	for _, host := range []string{"127.0.0.1", "::1"} {
		d := net.Dialer{Timeout: time.Second}
		d.SetMultipathTCP(false)
		conn, err := d.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		f, err := conn.(*net.TCPConn).File()
		conn.Close()
		return f, err
	}
	return nil, last
}

// listening lists the ports that sockets of this network listen on, each once.
func listening() ([]int64, error) {
	var found []int64
	seen := map[int64]bool{}
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // no IPv6
		}
		for line := range bytes.Lines(b) {
			fields := bytes.Fields(line)
			if len(fields) < 4 || string(fields[3]) != "0A" {
				continue
			}
			_, hex, _ := bytes.Cut(fields[1], []byte(":"))
			if port, err := strconv.ParseInt(string(hex), 16, 32); err == nil && !seen[port] {
				seen[port] = true
				found = append(found, port)
			}
		}
	}
	return found, nil
}
