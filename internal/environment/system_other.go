//go:build !linux && !darwin && !windows

package environment

import "runtime"

// systemName is the kind of system; its version is unknown.
func systemName() string { return runtime.GOOS }
