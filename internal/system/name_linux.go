package system

import "os"

// Name is the distribution with its version. Without an os-release file it is
// "Linux".
func Name() string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release, _ = os.ReadFile("/usr/lib/os-release") // none is fine
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // unknown is fine
	return ReleaseName(string(release), string(kernel))
}
