//go:build !linux

package link_test

import "time"

var start = time.Now()

// worked returns how long the tests have run.
func worked() time.Duration { return time.Since(start) }
