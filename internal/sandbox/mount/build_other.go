//go:build !linux

package mount

import (
	"errors"
	"syscall"
)

// ErrUnavailable is the kind of error that Build returns where the host does not
// allow what a root needs.
var ErrUnavailable = errors.New("a root of one's own needs Linux")

// Attr is for Linux; here it asks for nothing.
func Attr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Build fails with [ErrUnavailable].
func Build(Root) (Report, error) { return Report{}, ErrUnavailable }

// Drop fails with [ErrUnavailable].
func Drop() error { return ErrUnavailable }
