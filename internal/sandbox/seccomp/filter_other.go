//go:build !linux || (!amd64 && !arm64)

package seccomp

import "fmt"

// Install fails: filters are written for Linux on amd64 and arm64 only.
func (Filter) Install() (int, error) {
	return -1, fmt.Errorf("%w: filters are for Linux on amd64 and arm64", ErrUnsupported)
}
