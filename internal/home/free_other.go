//go:build !linux && !darwin && !windows

package home

import "errors"

// Free is unknown on this system.
func Free(string) (uint64, error) { return 0, errors.New("unknown on this system") }
