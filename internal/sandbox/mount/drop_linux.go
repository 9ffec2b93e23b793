package mount

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// DropThread takes all capabilities from the calling thread, which the caller has
// locked, also from its bounding set. The caller executes a program next: that has one
// thread, which has none, and gets none from a set-user-id, a file with capabilities,
// or by being root.
func DropThread() error {
	for capability := 0; ; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && capability > 0 {
			break // one more than the last that the kernel knows
		}
		if errors.Is(err, unix.EPERM) {
			break // an ordinary user has none, and no_new_privs keeps it so
		}
		if err != nil {
			return fmt.Errorf("drop capability %d from the bounding set: %w", capability, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
