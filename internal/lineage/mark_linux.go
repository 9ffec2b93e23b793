package lineage

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// markFile makes a file in memory that no process can change.
func markFile(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(markName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("mark commands by an open file: %w", err)
	}
	f := os.NewFile(uintptr(fd), markName)
	if _, err = f.Write(content); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("mark commands by an open file: %w", err)
	}
	return f, nil
}
