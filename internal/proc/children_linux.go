package proc

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ListsChildren reports whether this kernel keeps the lists that ChildrenOf reads.
func ListsChildren() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
}

// ChildrenOf lists the children of a process, also those that have ended and were not
// collected. It reads the kernel's own list: of children that fork and end at once, whose
// children become children of the same process, at least one is in it. The error is that
// the process has gone, or that the list cannot be read.
func ChildrenOf(pid int) ([]int, error) {
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(threads, func(a, b os.DirEntry) int { // what becomes its child later is one of the first thread
		return cmp.Compare(first(a, pid), first(b, pid))
	})
	var found []int
	for _, t := range threads {
		b, err := readAll(folder + "/" + t.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // this thread has ended: another one has its children
		}
		if err != nil {
			return nil, err
		}
		for field := range bytes.FieldsSeq(b) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				found = append(found, child)
			}
		}
	}
	return found, nil
}

// AllBelow lists the processes below one, also those that have ended and were not collected,
// until there are that many; most 0 is no bound. It is not whole if one went away meanwhile,
// which may have started another, or could not be looked at, or if the bound was reached. Of
// processes that start others and end at once, one is in it, or went away. On a kernel that
// keeps no lists of children it lists the living ones, whatever the bound.
func AllBelow(of, most int) (all []int, whole bool) {
	if !ListsChildren() {
		all, err := AllDescendants(of)
		return all, err == nil
	}
	all, err := ChildrenOf(of)
	whole = err == nil
	for i := 0; i < len(all); i++ {
		if most > 0 && len(all) >= most {
			return all, false
		}
		more, err := ChildrenOf(all[i])
		whole = whole && err == nil
		all = append(all, more...)
	}
	return all, whole
}

// readAll is os.ReadFile without what it does for other files than the kernel's.
func readAll(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var all []byte
	for {
		all = slices.Grow(all, 4096)
		n, err := unix.Read(fd, all[len(all):cap(all)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			return all, err
		}
		all = all[:len(all)+n]
	}
}

// first is 1 for the first thread of a process.
func first(thread os.DirEntry, pid int) int {
	if thread.Name() == strconv.Itoa(pid) {
		return 1
	}
	return 0
}

// Children lists the living children of a process, without zombies.
func Children(of int) []int {
	if !ListsChildren() {
		return childrenInTable(of)
	}
	all, _ := ChildrenOf(of)
	var found []int
	for _, pid := range all {
		if p, ok := readStat(pid); ok && !p.zombie {
			found = append(found, pid)
		}
	}
	return found
}

func childrenInTable(of int) []int {
	var found []int
	all, _ := processes()
	for _, p := range all {
		if p.parent == of && !p.zombie {
			found = append(found, p.pid)
		}
	}
	return found
}
