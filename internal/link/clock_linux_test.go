package link_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// worked returns how long the thread of the caller has run, without what other programs took.
func worked() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
