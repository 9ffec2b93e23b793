//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
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
	// calmLooks is how many looks must agree that nothing runs.
	calmLooks = 3
	// dialWait is for a program to accept a connection.
	dialWait = time.Second
)

// endAll kills everything below the keeper. Its guard does the same, and without time limit:
// this is for one that was killed. In layer A the kernel does it.
func (k *keeper) endAll() {
	switch k.layer {
	case A:
		return
	case None:
		k.endBare()
		return
	}
	for deadline := time.Now().Add(endTries); !childless() && time.Now().Before(deadline); time.Sleep(endPause / 40) {
		k.kill()
	}
}

// kill kills everything inside, as far as it can be reached at once.
func (k *keeper) kill() {
	if k.onlyInside {
		_ = syscall.Kill(-1, syscall.SIGKILL) // not this process
		return
	}
	k.ids.Lock()
	defer k.ids.Unlock()
	killChildren()
}

var errNotFrozen = errors.New("the processes of the session start new ones faster than they can be stopped")

var errWoken = errors.New("a process of the session has a timer that wakes it when it is stopped; end that process")

// wakes reports whether a process has a timer with SIGCONT. Other ways to be woken by the
// kernel are refused.
func wakes(pids []int) bool {
	for _, pid := range pids {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/timers") // few kernels have none
		for line := range bytes.Lines(b) {
			name, value, _ := bytes.Cut(line, []byte(":"))
			signal, _, _ := bytes.Cut(bytes.TrimSpace(value), []byte("/"))
			if string(name) == "signal" && string(signal) == strconv.Itoa(int(syscall.SIGCONT)) {
				return true
			}
		}
	}
	return false
}

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

// freeze stops all members, and what they start meanwhile, until none runs. A signal to all
// reaches each at one moment, with what it is starting; where such a signal would reach
// others, too, each group is signalled. Members may wake each other, so that each looks
// stopped when it is looked at. Looks at all of them that agree, also on how often each ran,
// show that all were stopped between them: and what is stopped wakes no one. Two do not
// suffice: one that wakes another and stops is counted only when it has left its processor,
// a moment after it looks stopped. One that waits in the kernel is told to stop in each
// round, the last time when no one can undo that: it stops before it runs on. Nor may the
// kernel wake one: see wakes.
func (k *keeper) freeze() error {
	if k.frozen == 0 {
		clear(k.halted)
		all, _ := proc.AllBelow(os.Getpid(), 0)
		for _, pid := range all {
			if look(pid, map[string]int64{}).halted {
				k.halted[pid] = true
			}
		}
	}
	k.frozen++
	var last map[string]int64
	agreed := 1 // looks, with the last one
	for deadline := time.Now().Add(freezeWait); time.Now().Before(deadline); {
		if childless() {
			return nil
		}
		if k.onlyInside {
			_ = syscall.Kill(-1, syscall.SIGSTOP) // not this process
		}
		k.ids.Lock() // until those that it lists are signalled
		all, whole := proc.AllBelow(os.Getpid(), 0)
		seen, running, stop := map[string]int64{}, !whole, []int(nil)
		for _, pid := range all {
			m := look(pid, seen)
			running = running || m.runs
			if m.runs || m.waits {
				stop = append(stop, pid)
			}
		}
		if !k.onlyInside {
			signalWithGroups(stop, syscall.SIGSTOP)
		}
		k.ids.Unlock()
		switch {
		case running:
			last = nil
			time.Sleep(endPause / 4)
		case last != nil && maps.Equal(last, seen):
			if agreed++; agreed == calmLooks {
				return nil
			}
			time.Sleep(endPause / 4)
		case wakes(all): // looked at between two looks that agree, or it could be gone by now
			k.thaw()
			return errWoken
		default:
			last, agreed = seen, 1
		}
	}
	k.thaw()
	return errNotFrozen
}

// thaw lets those go on that freeze stopped, and not those that were stopped before.
func (k *keeper) thaw() {
	if k.frozen = max(k.frozen-1, 0); k.frozen > 0 {
		return
	}
	if k.onlyInside && len(k.halted) == 0 {
		_ = syscall.Kill(-1, syscall.SIGCONT)
		return
	}
	k.ids.Lock()
	defer k.ids.Unlock()
	all, _ := proc.AllBelow(os.Getpid(), 0)
	for _, pid := range all {
		if !k.halted[pid] {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// member is what a process does.
type member struct {
	runs   bool // a thread runs, or it went away
	waits  bool // a thread waits in the kernel, as a program does after vfork for its stopped child
	halted bool // a thread was stopped, and none runs
}

// look looks at the threads of a process, and notes how often each gave up its processor.
func look(pid int, seen map[string]int64) (m member) {
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return member{runs: true}
	}
	for _, e := range entries {
		b, err := os.ReadFile(folder + "/" + e.Name() + "/status")
		if err != nil {
			m.runs = true
			continue
		}
		var s status
		for line := range bytes.Lines(b) {
			s.read(line)
		}
		switch s.state {
		case 'Z', 'X':
		case 'T', 't':
			m.halted = true
		case 'D':
			m.waits = true
		default:
			m.runs = true
		}
		seen[e.Name()] = s.switches
	}
	m.halted = m.halted && !m.runs && !m.waits
	return m
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
	ctx, cancel := context.WithTimeout(context.Background(), dialWait)
	defer cancel()
	var last error
	for _, host := range []string{"127.0.0.1", "::1"} {
		var d net.Dialer
		d.SetMultipathTCP(false)
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
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
