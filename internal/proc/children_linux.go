package proc

import (
	"bytes"
	"os"
	"strconv"
)

// ListsChildren reports whether this kernel keeps the lists that ChildrenOf reads.
func ListsChildren() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
}

// ChildrenOf lists the children of a process, also those that have ended and were not
// collected. It reads the kernel's own list: of children that fork and end at once, whose
// children become children of the same process, at least one is in it. The error is that
// the process has gone.
func ChildrenOf(pid int) ([]int, error) {
	folder := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, t := range threads {
		b, err := os.ReadFile(folder + "/" + t.Name() + "/children")
		if err != nil {
			continue // this thread has ended: another one has its children
		}
		for field := range bytes.FieldsSeq(b) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				found = append(found, child)
			}
		}
	}
	return found, nil
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
	for _, p := range processes() {
		if p.parent == of && !p.zombie {
			found = append(found, p.pid)
		}
	}
	return found
}
