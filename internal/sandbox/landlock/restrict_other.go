//go:build !linux

package landlock

import "fmt"

// ABI returns 0 and why: only Linux has Landlock.
func ABI() (int, error) { return 0, fmt.Errorf("%w: only Linux has it", ErrUnsupported) }

// Restrict fails: only Linux has Landlock.
func Restrict(Rules) error { _, err := ABI(); return err }
