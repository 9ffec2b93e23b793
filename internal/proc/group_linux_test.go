package proc

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

func TestAProcessIsAZombieOnlyWithoutThreads(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]process{
		"7 (a) b) S 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9": {pid: 7, parent: 3, pgrp: 4, session: 5},
		"7 (a) Z 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9":    {pid: 7, parent: 3, pgrp: 4, session: 5, zombie: true},
		"7 (a) Z 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 2 0 9":    {pid: 7, parent: 3, pgrp: 4, session: 5},
	} {
		if got, ok := parseStat(7, []byte(line)); !ok || got != want {
			t.Errorf("%s: got %+v, %t", line, got, ok)
		}
	}
	if _, ok := parseStat(7, []byte("7 (a) Z 3 4")); ok {
		t.Error("a line that was cut counts")
	}
}

// TestWhatCannotBeReadIsNotCountedAsGone: the process table is not whole then.
func TestWhatCannotBeReadIsNotCountedAsGone(t *testing.T) {
	for bad, want := range map[syscall.Errno]bool{syscall.EMFILE: true, syscall.ENOMEM: true, syscall.ENOENT: false, syscall.ESRCH: false, syscall.EPERM: false, syscall.EACCES: false} {
		all, err := processesWith(func(pid int) ([]byte, error) {
			if pid == os.Getpid() {
				return nil, &os.PathError{Op: "open", Path: "stat", Err: bad}
			}
			return statLine(pid)
		})
		if errors.Is(err, bad) != want || !want && err != nil || len(all) == 0 {
			t.Errorf("%v: %d processes, %v", bad, len(all), err)
		}
	}
}
