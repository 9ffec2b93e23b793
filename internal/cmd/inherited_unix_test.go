//go:build unix

package cmd_test

import "syscall"

// closeInherited keeps files that these tests have inherited from their children:
// one may be the mark of an agent that runs the tests.
func closeInherited() {
	for fd := 3; fd < 256; fd++ {
		syscall.CloseOnExec(fd)
	}
}
