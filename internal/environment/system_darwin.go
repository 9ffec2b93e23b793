package environment

import (
	"strings"

	"golang.org/x/sys/unix"
)

// systemName is macOS with its version.
func systemName() string {
	version, _ := unix.Sysctl("kern.osproductversion") // unknown is fine
	return strings.TrimSpace("macOS " + version)
}
