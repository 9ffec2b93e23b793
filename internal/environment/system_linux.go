package environment

import "os"

// systemName is the distribution with its version. Without an os-release file it is
// "Linux".
func systemName() string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release, _ = os.ReadFile("/usr/lib/os-release") // none is fine
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // unknown is fine
	return releaseName(string(release), string(kernel))
}
