package liveness

import "golang.org/x/sys/unix"

// kernelID is the number that the kernel chose when it was started.
func kernelID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	return "darwin " + id, err
}
