package gitguard

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// chmodIn changes the mode of what has a name in a folder. It follows no link, and needs
// no right to read it.
func chmodIn(dir *os.Root, name string, mode fs.FileMode) error {
	f, err := dir.OpenFile(name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return chmodOpen(f, mode)
}

// chmod is chmodIn for a path.
func chmod(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return chmodOpen(f, mode)
}

func chmodOpen(f *os.File, mode fs.FileMode) error {
	defer f.Close()
	// The system call fchmod takes no file that is open for its path only.
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), mode)
}

// own reports whether a file belongs to the user of this process.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
