package liveness

import "golang.org/x/sys/unix"

// machineID is the number of the hardware, "" if it is not known.
func machineID() string {
	id, _ := unix.Sysctl("kern.uuid") // without it, less is swept
	return id
}

// kernelID is the number that the kernel chose when it was started.
func kernelID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	return "darwin " + id, err
}
