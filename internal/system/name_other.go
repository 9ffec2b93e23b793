//go:build !linux && !darwin && !windows

package system

import "runtime"

// Name is the kind of system; its version is unknown.
func Name() string { return runtime.GOOS }
