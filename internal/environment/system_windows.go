package environment

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// systemName is Windows with its version. Windows 11 calls itself version 10 with a
// higher build.
func systemName() string {
	const firstBuildOf11 = 22000
	major, _, build := windows.RtlGetNtVersionNumbers()
	if major == 10 && build >= firstBuildOf11 {
		major = 11
	}
	return fmt.Sprintf("Windows %d (build %d)", major, build)
}
