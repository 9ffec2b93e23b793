package liveness

import (
	"errors"
	"os"
	"strings"
)

// machineID is the number that the system got when it was installed (machine-id(5)), "" if it has none.
func machineID() string {
	raw, _ := os.ReadFile("/etc/machine-id") // many containers have none
	if id := strings.TrimSpace(string(raw)); len(id) == 32 {
		return id
	}
	return ""
}

// kernelID is the number that the kernel chose when it was started. All containers of one
// kernel see the same (proc(5), /proc/sys/kernel/random).
func kernelID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(raw))
	if id == "" {
		return "", errors.New("the kernel has no boot_id")
	}
	return "linux " + id, nil
}
