package lineage

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// look reads a process. Processes cannot be renamed on this system, so every
// Hermes above counts as an agent: one with its name, or of the same file.
func look(pid int) (node, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return node{}, os.NewSyscallError("sysctl kern.proc.pid", err)
	}
	n := node{pid: pid, parent: int(k.Eproc.Ppid), name: unix.ByteSliceToString(k.Proc.P_comm[:])}
	n.agent = n.name == "hermes" || sameProgram(program(pid))
	return n, nil
}

// program is the path of a process's program, "" if unknown.
func program(pid int) string {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return ""
	}
	path, _, _ := bytes.Cut(raw[4:], []byte{0}) // after the number of arguments
	return string(path)
}

func sameProgram(path string) bool {
	if path == "" {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(own)
	return err == nil && os.SameFile(a, b)
}

// homes is empty: the files of another process cannot be read.
func (node) homes() []string { return nil }
