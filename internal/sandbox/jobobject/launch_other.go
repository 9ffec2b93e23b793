//go:build !windows

package jobobject

import (
	"errors"

	"hermes/internal/proc"
)

// Launcher starts programs in jobs, on Windows only.
type Launcher struct{}

var _ proc.Launcher = (*Launcher)(nil)

var errSystem = errors.New("job objects exist on Windows only")

// New fails: this is not Windows.
func New(Limits) (*Launcher, error) { return nil, errSystem }

// Launch fails, as New does.
func (*Launcher) Launch(proc.Spec) (proc.Child, error) { return nil, errSystem }

// Close does nothing.
func (*Launcher) Close() {}
