package main

import (
	"os"
	"syscall"
)

// watchPeak is not needed here, because the figure of the system is right.
func watchPeak(int) int64 { return 0 }

// peakAfter returns the high-water mark of a process that has ended, in bytes.
func peakAfter(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss
}
