package proc

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// configure gives the child its own session. The child dies with this process,
// even if that is killed: the signal comes when the thread that started the child
// ends, and the runtime's threads end with the process.
func configure(cmd *exec.Cmd, tty bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: tty, Pdeathsig: syscall.SIGKILL}
}

// exited waits until a child has ended without reaping it, so that its id is not
// reused.
func exited(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// process is an entry of the process table.
type process struct {
	pid, parent, pgrp, session int
	zombie                     bool // it has ended, with all its threads
	state                      byte // of its first thread
}

// processes reads the process table. The error is that of the first entry that cannot be
// read although it is there, as when no file can be opened. What this user may not see, on
// a system that hides it, is left out.
func processes() ([]process, error) { return processesWith(statLine) }

func processesWith(statLine func(pid int) ([]byte, error)) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var all []process
	for _, e := range entries {
		pid, notOne := strconv.Atoi(e.Name())
		if notOne != nil {
			continue
		}
		b, bad := statLine(pid)
		gone := errors.Is(bad, os.ErrNotExist) || errors.Is(bad, syscall.ESRCH)
		if bad != nil && err == nil && !gone && !errors.Is(bad, os.ErrPermission) {
			err = bad
		}
		if p, ok := parseStat(pid, b); ok {
			all = append(all, p)
		}
	}
	return all, err
}

func statLine(pid int) ([]byte, error) {
	return os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
}

func readStat(pid int) (process, bool) {
	b, err := statLine(pid)
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, b)
}

// parseStat reads a line of /proc/PID/stat. The state is that of the first thread only:
// a process whose first thread has ended is no zombie while it has others.
func parseStat(pid int, b []byte) (process, bool) {
	// The name in brackets may contain anything, also brackets.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 18 {
		return process{}, false
	}
	p := process{pid: pid, state: fields[0][0]}
	var threads int
	for i, to := range map[int]*int{1: &p.parent, 2: &p.pgrp, 3: &p.session, 17: &threads} {
		var err error
		if *to, err = strconv.Atoi(string(fields[i])); err != nil {
			return process{}, false
		}
	}
	p.zombie = p.state == 'Z' && threads <= 1
	return p, true
}

// strays lists processes that descend from the child or are in its session, but
// have left its process group, as with setsid and job control.
func strays(leader int) []int {
	all, _ := processes()
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.pid] = p.parent
	}
	var found []int
	for _, p := range all {
		if p.pgrp != leader && !p.zombie && (p.session == leader || descends(p.pid, leader, parents)) {
			found = append(found, p.pid)
		}
	}
	return found
}

func descends(pid, from int, parents map[int]int) bool {
	for range 64 { // deeper than any realistic process tree
		pid = parents[pid]
		if pid == from {
			return true
		}
		if pid <= 1 {
			return false
		}
	}
	return false
}

// anyLiving reports whether the group has a member that is not a zombie.
func anyLiving(pgrp int) bool {
	all, _ := processes()
	return slices.ContainsFunc(all, func(p process) bool { return p.pgrp == pgrp && !p.zombie })
}

// oomScore makes the kernel kill a child before this process when memory runs out.
const oomScore = "300"

// confine sets the limits of a started child. They do not apply to the first
// microseconds of its life.
func confine(pid int, l Limits) error {
	// If this is refused, the child keeps our score.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(oomScore), 0)
	for resource, value := range map[int]uint64{
		unix.RLIMIT_NOFILE: l.OpenFiles,
		unix.RLIMIT_FSIZE:  l.FileBytes,
		unix.RLIMIT_AS:     l.AddressBytes,
		unix.RLIMIT_CPU:    l.CPUSeconds,
	} {
		if value == 0 {
			continue
		}
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Confine sets the limits of a process that was started elsewhere than here.
func Confine(pid int, l Limits) error { return confine(pid, l) }

// SignalGroup asks a group that was started elsewhere, and all that descends from its
// leader, to end, or kills them.
func SignalGroup(leader int, force bool) { (&group{leader: leader}).signal(force) }

// GroupLeft reports whether a group has living members after its leader was reaped.
func GroupLeft(leader int) bool { return (&group{leader: leader}).leftover() }

// Descendants lists the living processes below a process, children first, without
// zombies.
func Descendants(of int) []int {
	found, _ := AllDescendants(of)
	return found
}

// AllDescendants is [Descendants] with an error if it could not look at all processes.
func AllDescendants(of int) ([]int, error) {
	all, err := processes()
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.pid] = p.parent
	}
	var found []int
	for _, p := range all {
		if !p.zombie && descends(p.pid, of, parents) {
			found = append(found, p.pid)
		}
	}
	return found, err
}
