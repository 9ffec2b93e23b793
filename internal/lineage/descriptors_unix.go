//go:build unix

package lineage

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// markName is the name of the file of a mark, which is in no folder.
	markName = "hermes-agent"
	// maxMark limits its content, in bytes.
	maxMark = 8 << 10
)

func parseMark(raw []byte) (mark, bool) {
	home, ok := strings.CutPrefix(string(raw), markBegin)
	return mark{home: strings.TrimSuffix(home, "\n")}, ok
}

// mostDescriptors is how many descriptors are tried if they cannot be listed.
const mostDescriptors = 1024

// inherited returns the marks among the open files of this process. A mark is
// known by its content, on whichever descriptor it is.
func inherited() []mark {
	var found []mark
	for _, fd := range descriptors() {
		if m, ok := markOn(fd); ok {
			found = append(found, m)
		}
	}
	return found
}

// markOn reads a descriptor without moving its position. A mark is a regular file
// that is in no folder; this process makes none itself that children do not get.
func markOn(fd int) (mark, bool) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 { // opened by this process
		return mark{}, false
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 0 || st.Size > maxMark {
		return mark{}, false
	}
	raw := make([]byte, st.Size)
	n, err := unix.Pread(fd, raw, 0)
	if err != nil {
		return mark{}, false
	}
	return parseMark(raw[:n])
}

// descriptors lists the open descriptors of this process.
func descriptors() []int {
	entries, err := os.ReadDir("/dev/fd")
	var list []int
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, fd)
		}
	}
	if err != nil || len(list) == 0 {
		for fd := range mostDescriptors {
			list = append(list, fd)
		}
	}
	return list
}
