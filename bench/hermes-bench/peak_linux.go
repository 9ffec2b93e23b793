package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchPeak reads the high-water mark of a process until it ends. The figure of the kernel after
// the end is wrong: it starts from the memory of the process that forked.
func watchPeak(pid int) int64 {
	var peak int64
	name := fmt.Sprintf("/proc/%d/status", pid)
	for {
		text, err := os.ReadFile(name)
		if err != nil {
			return peak
		}
		_, after, found := bytes.Cut(text, []byte("VmHWM:"))
		if !found { // it has ended and is a zombie
			return peak
		}
		fields := bytes.Fields(after)
		if kb, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
			peak = max(peak, kb<<10)
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// peakAfter has nothing to add on Linux.
func peakAfter(*os.ProcessState) int64 { return 0 }
