package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAProcessIsAZombieOnlyWithoutThreads(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]process{
		"7 (a) b) S 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9": {pid: 7, parent: 3, pgrp: 4, session: 5, state: 'S'},
		"7 (a) Z 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9":    {pid: 7, parent: 3, pgrp: 4, session: 5, zombie: true, state: 'Z'},
		"7 (a) Z 3 4 5 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 2 0 9":    {pid: 7, parent: 3, pgrp: 4, session: 5, state: 'Z'},
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

// TestAProcessWithoutItsFirstThreadIsHaltedWhenItIsStopped, and not before.
func TestAProcessWithoutItsFirstThreadIsHaltedWhenItIsStopped(t *testing.T) {
	const inside = "PROC_TEST_HEADLESS"
	if os.Getenv(inside) != "" {
		endFirstThread()
	}
	t.Parallel()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), inside+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	await := func(what string, reached func() bool) {
		t.Helper()
		for late := time.Now().Add(20 * time.Second); !reached(); time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatal(what)
			}
		}
	}
	await("its first thread goes on", func() bool { p, _ := readStat(c.Process.Pid); return p.state == 'Z' })
	if halted(c.Process.Pid) {
		t.Error("it is halted, although it runs")
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await("it is not halted, although it was stopped", func() bool { return halted(c.Process.Pid) })
}

// endFirstThread ends the first thread of this process, and the others after a minute.
func endFirstThread() {
	for {
		go func() {
			runtime.LockOSThread() // so that each has a thread of its own
			if unix.Gettid() == os.Getpid() {
				_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
			}
			select {}
		}()
		time.Sleep(time.Millisecond)
		if p, ok := readStat(os.Getpid()); ok && p.state == 'Z' {
			time.Sleep(time.Minute) // until it is killed
			os.Exit(1)
		}
	}
}
