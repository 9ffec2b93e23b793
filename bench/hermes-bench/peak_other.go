//go:build !linux && !darwin

package main

import "os"

// watchPeak and peakAfter cannot measure memory on this system; the row stays empty.
func watchPeak(int) int64 { return 0 }

func peakAfter(*os.ProcessState) int64 { return 0 }
