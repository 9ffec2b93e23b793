//go:build !linux

package proc

import "os"

// Bounded bounds how many processes a program may have at once, which only Linux does.
type Bounded struct{}

// NewBounded returns nil, which bounds nothing.
func NewBounded(uint64, *os.File) *Bounded { return nil }

// Watch does nothing.
func (*Bounded) Watch(int, func() bool, func()) {}

func killTree(int) {}

// Close does nothing.
func (*Bounded) Close() {}
