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
// number: its limits, so that the kernel ends it or it can open no file, and when and where
// it runs.
func (f Filter) others() code {
	ask := refuse(unix.EPERM)
	if f.asks() {
		ask = answer(unix.SECCOMP_RET_USER_NOTIF)
	}
	limits := ifEqual(unix.SYS_PRLIMIT64, join(
		argument(0), ifEqual(0, allow()),
		argument(2), unlessEqual(0, ask), upper(2), unlessEqual(0, ask), // else it only reads
		allow(),
	))
	if !f.asks() {
		return limits // C libraries schedule threads of their own by their numbers
	}
	return join(
		limits,
		eachOf([]uint32{unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR},
			join(argument(0), ifEqual(0, allow()), ask)),
		ifEqual(unix.SYS_SETPRIORITY, ofNumber(unix.PRIO_USER, ask)),
		ifEqual(unix.SYS_IOPRIO_SET, ofNumber(ioprioUser, ask)),
	)
}

// ioprioUser is IOPRIO_WHO_USER.
const ioprioUser = 3

// ofNumber lets a call change its caller, and the caller's group, and never all processes
// of a user. For others it asks.
func ofNumber(user uint32, ask code) code {
	return join(
		argument(0), ifEqual(user, refuse(unix.EPERM)),
		argument(1), ifEqual(0, allow()),
		ask,
	)
}

// asks says whether there is a listener.
func (f Filter) asks() bool { return (f.Notify || f.Others) && !f.NetOff }

// upper loads the high 32 bits of an argument.
func upper(n uint32) code { return load(offsetArgs + 8*n + 4) }

// target is the process, thread or group that a call changes, if it is one of [Filter.others].
func (n *notification) target() (pid int, ok bool) {
	switch n.Call {
	case unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR:
		return int(int32(n.Args[0])), true
	case unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET:
		return int(int32(n.Args[1])), true
	}
	return 0, false
}

// other lets a call change another process, a thread, or the group that a process leads, if
// it is one of the programs. So the process that started them is out of reach.
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
