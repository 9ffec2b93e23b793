//go:build !linux

package proc

// AdoptOrphans does nothing: this system has no such adoption.
func AdoptOrphans() (stop func()) { return func() {} }

// EndOrphans does nothing: there is no adoption.
func EndOrphans() error { return nil }
