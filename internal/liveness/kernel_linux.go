package liveness

import (
	"errors"
	"os"
	"strings"
)

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
