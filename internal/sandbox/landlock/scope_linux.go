package landlock

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ScopesSignals says whether an ABI can keep signals inside.
func ScopesSignals(abi int) bool { return abi >= 6 }

// ScopeSignals lets the calling thread, which the caller has locked, and all that it
// starts, signal only each other, and what is restricted further below. It restricts
// nothing else. It is never taken off.
func ScopeSignals() error {
	// To move files to another folder is refused by every rule set that does not grant it.
	set := ruleset{fs: refer, scoped: scopeSignal}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set)), unsafe.Sizeof(set), 0)
	if errno != 0 {
		return fmt.Errorf("create a Landlock rule set for signals: %w", errno)
	}
	defer unix.Close(int(fd))
	if err := grant(int(fd), "/", refer); err != nil {
		return fmt.Errorf("grant moving files by Landlock: %w", err)
	}
	return enforce(int(fd))
}

// enforce restricts the calling thread by a rule set.
func enforce(fd int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); errno != 0 {
		return fmt.Errorf("enforce Landlock rules: %w", errno)
	}
	return nil
}
