//go:build amd64 || arm64

package sandbox

import (
	"os"
	"strings"

	"hermes/internal/sandbox/landlock"
)

// Expect guesses the layer that this host allows, without building it.
func Expect() Layer {
	if abi, _ := landlock.ABI(); abi == 0 {
		return None
	}
	if strings.HasPrefix(setting("/proc/sys/user/max_user_namespaces"), "0") || os.Geteuid() != 0 &&
		(setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" || setting("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
		return B
	}
	return A
}

// setting reads a setting of the kernel, "" if it has none.
func setting(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}
