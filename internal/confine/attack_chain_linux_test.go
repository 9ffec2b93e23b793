//go:build amd64 || arm64

package confine_test

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hermes"
)

// A chain is bounded, since it takes a process id for each step from the whole machine.
const (
	chainTime  = 5 * time.Second
	chainSteps = 20_000
	chainPause = 50 * time.Microsecond
)

// chain forks and exits, and its child does the same, so that there is always one process
// but none for long. Each writes a byte to the file.
func chain(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return
	}
	links(f.Fd(), now.Nano()+int64(chainTime))
}

// links is the chain. A forked Go program has one thread and no scheduler: it makes plain
// system calls only.
//
//go:norace
//go:nosplit
func links(fd uintptr, end int64) {
	pause := unix.Timespec{Nsec: int64(chainPause)}
	var now unix.Timespec
	b := byte('x')
	for range chainSteps {
		_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&b)), 1)
		_, _, _ = syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
		_, _, _ = syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&now)), 0)
		if now.Sec*1e9+now.Nsec > end {
			break
		}
		if pid, _, _ := syscall.RawSyscall(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0); pid != 0 {
			break // the parent, or no more processes are allowed
		}
	}
	_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
}

// startChain starts the one chain of a test in the background.
func (s *target) startChain(t *testing.T) {
	t.Helper()
	s.run(t, "(setsid $T chain $W/n >/dev/null 2>&1 &); for i in $(seq 500); do [ -s n ] && break; sleep 0.01; done", s.tools)
	if !s.goesOn() {
		t.Fatal("the chain does not run")
	}
}

// goesOn reports whether the chain writes.
func (s *target) goesOn() bool {
	before := s.size("n")
	time.Sleep(100 * time.Millisecond) // more than 100 links
	return s.size("n") != before
}

// waitForEnd lets the limits of a chain that was not ended pass.
func (s *target) waitForEnd() {
	for s.goesOn() {
	}
}

// No list shows a process that forks and exits at once, and is there all the time.
func TestAttackForksAfterTheEnd(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.startChain(t)
		err := s.Local.Close()
		if s.goesOn() {
			t.Errorf("it runs after the session was closed (%v)", err)
			s.waitForEnd()
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// The same, while all is said to be stopped.
func TestAttackForksWhileFrozen(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		defer s.waitForEnd()
		s.startChain(t)
		for range 3 {
			thaw, err := s.walls.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			ran := s.goesOn()
			thaw()
			if ran {
				t.Fatal("it ran while everything was frozen")
			}
			if !s.goesOn() {
				t.Fatal("it does not go on")
			}
		}
		s.Local.Close()
	})
}

// A chain whose keeper was killed by the chain's own session.
func TestAttackForksWithoutItsKeeper(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.startChain(t)
		_, _ = s.try(t, "kill -KILL $PPID; kill -QUIT 1; sleep 1", s.tools, func(c *hermes.Command) { c.Limits.Time = 200 * time.Millisecond })
		err := s.Local.Close()
		if s.goesOn() {
			t.Errorf("it runs after the session was closed (%v)", err)
			s.waitForEnd()
		}
	})
}

// asOwnerVariable makes a test the owner that is killed.
const asOwnerVariable = "CONFINE_CHAIN_OWNER"

// The owner is killed by force while a chain runs.
func TestAttackForksAfterTheOwner(t *testing.T) {
	if os.Getenv(asOwnerVariable) != "" {
		both(t, func(t *testing.T, s *target) {
			if strconv.Itoa(int(s.layer())) != os.Getenv(asOwnerVariable) {
				return
			}
			s.startChain(t)
			if err := os.WriteFile(os.Getenv(asOwnerVariable+"_FILE"), []byte(s.dir), 0o600); err != nil {
				t.Fatal(err)
			}
			select {}
		})
		return
	}
	for _, l := range layers {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		c := exec.Command(self, "-test.run=^TestAttackForksAfterTheOwner$")
		c.Env = append(os.Environ(), asOwnerVariable+"="+strconv.Itoa(int(l)), asOwnerVariable+"_FILE="+dir+"/dir", "TMPDIR="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s := &target{scene: &scene{dir: dir}}
		s.await(t, "dir")
		s.dir = s.holds("dir")
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // killed, as was meant
		time.Sleep(200 * time.Millisecond)
		if s.goesOn() {
			t.Errorf("layer %s: it outlives the owner", l)
			s.waitForEnd()
		}
	}
}
