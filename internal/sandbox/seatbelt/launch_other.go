//go:build !darwin

package seatbelt

import (
	"errors"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// Launcher starts programs under one profile, on macOS only.
type Launcher struct{}

var _ proc.Launcher = (*Launcher)(nil)

var errSystem = errors.New("sandbox profiles of this kind work on macOS only")

// New fails: this is not macOS.
func New(sandbox.Policy, Options) (*Launcher, error) { return nil, errSystem }

// Launch fails, as New does.
func (*Launcher) Launch(proc.Spec) (proc.Child, error) { return nil, errSystem }
