package lineage

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// look reads a process. Every Hermes above counts as an agent. A parent that is
// younger than its child is another process with a reused id, and ends the way.
func look(pid int) (node, error) {
	n, err := entry(uint32(pid))
	if err != nil {
		return node{}, err
	}
	if born(n.parent) > born(n.pid) {
		n.parent = 0
	}
	n.agent = strings.EqualFold(n.name, "hermes.exe")
	if own, err := os.Executable(); err == nil && strings.EqualFold(n.name, filepath.Base(own)) {
		n.agent = true
	}
	return n, nil
}

func entry(pid uint32) (node, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return node{}, fmt.Errorf("list the processes: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &e); err == nil; err = windows.Process32Next(snapshot, &e) {
		if e.ProcessID == pid {
			return node{pid: int(pid), parent: int(e.ParentProcessID), name: windows.UTF16ToString(e.ExeFile[:])}, nil
		}
	}
	return node{}, fmt.Errorf("process %d: %w", pid, fs.ErrNotExist)
}

// born is when a process began, 0 if unknown.
func born(pid int) int64 {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(h)
	var begin, end, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &begin, &end, &kernel, &user) != nil {
		return 0
	}
	return begin.Nanoseconds()
}

// homes is empty: the files of another process cannot be read.
func (node) homes() []string { return nil }
