//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hermes/internal/proc"
)

// The end of a keeper's processes, in layer B. In layer A the kernel ends them with
// the keeper.
const (
	endRounds = 1000
	endPause  = 2 * time.Millisecond
)

// endAll kills everything below the keeper until there is nothing.
func (k *keeper) endAll() {
	if k.layer == A {
		return
	}
	for range endRounds {
		members := proc.Descendants(os.Getpid())
		if len(members) == 0 {
			return
		}
		for _, pid := range members {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(endPause)
	}
}

// endTree ends a keeper that does not end by itself, from outside. It is stopped first, so
// that it starts nothing, and killed last: as long as it is there, it is the parent of all
// orphans inside.
func endTree(keeper int) {
	for range endRounds {
		_ = syscall.Kill(keeper, syscall.SIGSTOP)
		running := 0
		for _, pid := range proc.Descendants(keeper) {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				running++
			}
		}
		if running == 0 {
			break
		}
		time.Sleep(endPause)
	}
	_ = syscall.Kill(keeper, syscall.SIGKILL)
}

var errNotFrozen = errors.New("the processes of the session start new ones faster than they can be stopped")

// freeze stops all members, and what they start meanwhile, until none runs.
func (k *keeper) freeze() error {
	for range endRounds {
		running := 0
		for _, pid := range proc.Descendants(os.Getpid()) {
			if isStopped(pid, k.stopped[pid]) {
				continue
			}
			running++
			if syscall.Kill(pid, syscall.SIGSTOP) == nil {
				k.stopped[pid] = true
			}
		}
		if running == 0 {
			return nil
		}
		time.Sleep(endPause / 4)
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

// isStopped reports whether all threads of a process are stopped. A process that has
// gone counts as stopped, and so does one that was told to stop and waits in the kernel:
// it stops before it runs on. After vfork a program waits so for its stopped child.
func isStopped(pid int, told bool) bool {
	states := "TtZX"
	if told {
		states += "D"
	}
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return true
	}
	for _, e := range entries {
		b, err := os.ReadFile(folder + "/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if i := bytes.LastIndexByte(b, ')'); i < 0 || i+2 >= len(b) || !strings.ContainsRune(states, rune(b[i+2])) {
			return false
		}
	}
	return true
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
