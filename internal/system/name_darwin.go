package system

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Name is macOS with its version.
func Name() string {
	version, _ := unix.Sysctl("kern.osproductversion") // unknown is fine
	return strings.TrimSpace("macOS " + version)
}
