//go:build !linux

package proc

import "time"

// Below are the processes below another one; nothing is known of them on this system.
type Below struct{}

// HoldBelow finds nothing.
func HoldBelow(int) (*Below, error) { return &Below{}, nil }

// Look finds nothing.
func (*Below) Look() error { return nil }

// Stop does nothing.
func (*Below) Stop() {}

// EndAll ends nothing.
func (*Below) EndAll(time.Duration) error { return nil }

// Close does nothing.
func (*Below) Close() {}
