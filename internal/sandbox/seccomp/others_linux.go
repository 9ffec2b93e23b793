//go:build amd64 || arm64

package seccomp

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// others restricts calls that change how another process of the same user runs, by its
// number: its limits, so that the kernel ends it or it can open no file.
func (f Filter) others() code {
	ask := refuse(unix.EPERM)
	if f.asks() {
		ask = answer(unix.SECCOMP_RET_USER_NOTIF)
	}
	return ifEqual(unix.SYS_PRLIMIT64, join(
		argument(0), ifEqual(0, allow()),
		argument(2), unlessEqual(0, ask), upper(2), unlessEqual(0, ask), // else it only reads
		allow(),
	))
}

// asks says whether there is a listener.
func (f Filter) asks() bool { return (f.Notify || f.Others) && !f.NetOff }

// upper loads the high 32 bits of an argument.
func upper(n uint32) code { return load(offsetArgs + 8*n + 4) }

// other lets a call change another process, or a thread, if it is one of the programs. So
// the process that started them is out of reach.
func (s *Supervisor) other(pid int) error {
	if s.Root > 0 && pid > 0 && s.isProgram(pid) {
		return errContinue
	}
	return unix.EPERM
}

// maxDepth is how deep below the root programs are looked for.
const maxDepth = 1 << 12

// isProgram follows the parents of a process to the root. Numbers are those that the caller
// uses: where it is in a namespace of its own, the first process there is the root.
func (s *Supervisor) isProgram(pid int) bool {
	folder, root := "/proc/", s.Root
	if s.Namespace {
		folder, root = "/proc/"+strconv.Itoa(s.Root)+"/root/proc/", 1
	}
	for range maxDepth {
		process, parent, err := family(folder + strconv.Itoa(pid) + "/status")
		if err != nil || process == root || process <= 1 {
			return false
		}
		if parent == root {
			return true
		}
		pid = parent
	}
	return false
}

var errStatus = errors.New("the status of a process is not understood")

// family returns the process that a thread belongs to, and the parent of that.
func family(status string) (process, parent int, err error) {
	b, err := os.ReadFile(status)
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "Tgid":
			process, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		case "PPid":
			parent, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if process == 0 {
		return 0, 0, errStatus
	}
	return process, parent, nil
}
