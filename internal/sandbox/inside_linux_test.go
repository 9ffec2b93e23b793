//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hermes/internal/race"
	"hermes/internal/sandbox"
)

// callArg makes the test binary a program that makes one system call.
const callArg = "call"

// call makes a system call that no shell makes, and prints its error.
func call(args []string) int {
	var err error
	switch args[0] {
	case "truncate":
		err = unix.Truncate(args[1], 0)
	case "open-truncate": // for reading only
		_, err = unix.Open(args[1], unix.O_RDONLY|unix.O_TRUNC, 0)
	case "link":
		err = os.Link(args[1], args[2])
	case "limit": // how many files a process may open
		pid, _ := strconv.Atoi(args[1])
		err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 5, Max: 5}, nil)
	case "limited": // reads that
		pid, _ := strconv.Atoi(args[1])
		err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{})
	case "short": // of something
		resource, _ := strconv.Atoi(args[1])
		err = startShort(resource, args[2])
	case "deaf": // listens, and accepts nothing
		err = deaf(args[1])
	case "bind":
		err = bindTo(args[1])
	case "schedule": // a process on the processors where it may run already
		pid, _ := strconv.Atoi(args[1])
		var set unix.CPUSet
		if err = unix.SchedGetaffinity(0, &set); err == nil {
			err = unix.SchedSetaffinity(pid, &set)
		}
	case "renice":
		which, _ := strconv.Atoi(args[1])
		who, _ := strconv.Atoi(args[2])
		err = unix.Setpriority(which, who, 19)
	case "ionice": // to the lowest of the usual class
		which, _ := strconv.Atoi(args[1])
		who, _ := strconv.Atoi(args[2])
		if _, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, uintptr(which), uintptr(who), 2<<13|7); errno != 0 {
			err = errno
		}
	case "attribute": // of a file, set
		err = unix.Setxattr(args[1], "user.test", []byte("x"), 0)
	case "attribute-read":
		_, err = unix.Getxattr(args[1], "user.test", make([]byte, 8))
	case "attribute-open": // of a file that is open for reading
		var fd int
		if fd, err = unix.Open(args[1], unix.O_RDONLY, 0); err == nil {
			err = unix.Fsetxattr(fd, "user.test", []byte("x"), 0)
		}
	case "timer": // wakes this process, which writes to a file
		err = wakeByTimer(args[1])
	case "setsig":
		_, err = unix.FcntlInt(0, unix.F_SETSIG, atoi(args[1]))
	case "pdeathsig":
		err = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(atoi(args[1])), 0, 0, 0)
	case "clone": // with a signal at the end
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(atoi(args[1])), 0, 0, 0, 0, 0)
		if errno != 0 {
			err = errno
		} else if pid == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	case "headless": // runs on without its first thread
		headless(args[1])
	case "owner": // starts a keeper with a program below it, and waits to be killed
		err = own(args[1], args[2], args[3])
	}
	fmt.Println(err)
	return 0
}

// headless ends the first thread of this process, and writes to a file in another one: the
// kernel calls such a process a zombie.
func headless(file string) {
	go func() {
		for ; ; time.Sleep(5 * time.Millisecond) {
			f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err == nil {
				_, _ = f.WriteString("x")
				f.Close()
			}
		}
	}()
	for {
		go func() {
			runtime.LockOSThread() // so that each has a thread of its own
			if unix.Gettid() == os.Getpid() {
				_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
			}
			select {}
		}()
		time.Sleep(time.Millisecond)
		if b, err := os.ReadFile("/proc/self/stat"); err == nil && strings.Contains(string(b), ") Z ") {
			select {}
		}
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// wakeByTimer has itself continued every 150 ms.
func wakeByTimer(file string) error {
	event := struct { // struct sigevent
		value          uint64
		signal, notify int32
		_              [48]byte
	}{signal: int32(unix.SIGCONT)}
	var id int32
	if _, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&id))); errno != 0 {
		return errno
	}
	every := [4]int64{0, 150_000_000, 0, 150_000_000}
	if _, _, errno := unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(id), 0, uintptr(unsafe.Pointer(&every)), 0, 0, 0); errno != 0 {
		return errno
	}
	for ; ; time.Sleep(5 * time.Millisecond) {
		if f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString("x")
			f.Close()
		}
	}
}

func bindTo(port string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	return unix.Bind(fd, &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
}

// deaf writes the port on which it listens.
func deaf(file string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := unix.Listen(fd, 0); err != nil {
		return err
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(at.(*unix.SockaddrInet4).Port)), 0o600); err != nil {
		return err
	}
	time.Sleep(time.Hour)
	return nil
}

// startShort starts keepers while this process, and they, have only so many of a resource.
// The error is one that says that the host does not allow walls.
func startShort(resource int, dir string) error {
	own := threads()
	for n := range uint64(30) { // downwards, as it cannot be raised again
		limit := 34 - n
		if resource == unix.RLIMIT_NPROC {
			limit += own
		}
		for _, l := range bothLayers {
			if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
				return err
			}
			k, err := sandbox.Start(context.Background(), sandbox.Config{Policy: sandbox.Policy{Layer: l, Read: []string{"/usr"}, Temp: dir, Home: dir, PrivateHome: dir}})
			if err == nil {
				k.Close()
			}
			if errors.Is(err, sandbox.ErrUnavailable) {
				return fmt.Errorf("layer %s with a limit of %d: %w", l, limit, err)
			}
		}
	}
	return nil
}

// threads counts those of this user, as the limit of processes does.
func threads() (n uint64) {
	all, _ := filepath.Glob("/proc/[0-9]*/task/*")
	for _, folder := range all {
		if info, err := os.Stat(folder); err == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Getuid()) {
			n++
		}
	}
	return n
}

// policy of a layer, with a folder that may be read and one that may be changed.
func policy(t testing.TB, l sandbox.Layer) sandbox.Policy {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.Policy{Layer: l, Read: []string{"/usr", "/etc", filepath.Join(root, "read")}, Network: sandbox.Proxied}
	for _, path := range []string{"/bin", "/lib", "/lib64"} { // where they are no links
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			p.Read = append(p.Read, path)
		}
	}
	p.Write = []string{filepath.Join(root, "write")}
	p.Temp, p.PrivateHome, p.Home = filepath.Join(root, "temp"), filepath.Join(root, "private"), filepath.Join(root, "home")
	for _, dir := range []string{"read", "write", "temp", "private", "home", "outside"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{p.Read[2] + "/file", p.Home + "/file", filepath.Join(root, "outside", "canary")} {
		if err := os.WriteFile(file, []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// canaryOf is a file that a policy does not name.
func canaryOf(p sandbox.Policy) string {
	return filepath.Join(filepath.Dir(p.Write[0]), "outside", "canary")
}

// withCaller lets the programs of a policy run the test binary; see call.
func withCaller(t testing.TB, p *sandbox.Policy) (line string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		t.Fatal(err)
	}
	p.Read = append(p.Read, own)
	return own + " " + callArg + " "
}

// againVariable marks the second run of the tests, as an ordinary user.
const againVariable = "SANDBOX_TEST_AGAIN"

// TestAgainAsOrdinaryUser runs the other tests as a user without rights.
func TestAgainAsOrdinaryUser(t *testing.T) {
	if race.Enabled {
		t.Skip("runs all tests once more, and the run without the race detector has it")
	}
	if os.Getuid() != 0 || os.Getenv(againVariable) != "" {
		t.Skip("this is an ordinary user already")
	}
	if testing.Short() {
		t.Skip("runs all tests once more")
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "sandbox.test")
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{folder: 0o777, binary: 0o755} { // whatever the umask
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(binary, "-test.timeout=8m", "-test.v")
	c.Dir = folder
	c.Env = append(os.Environ(), againVariable+"=1", "TMPDIR="+folder, "HOME="+folder)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, withoutPassed(string(out)))
	}
	if n := strings.Count(string(out), "--- PASS: "); n < 15 {
		t.Errorf("only %d tests ran", n)
	}
}

// withoutPassed returns the output of tests without the lines about those that ran well, so that a
// failure is found in a long report.
func withoutPassed(output string) string {
	var kept strings.Builder
	for line := range strings.Lines(output) {
		text := strings.TrimLeft(line, " ")
		passed := strings.HasPrefix(text, "--- PASS: ") || strings.HasPrefix(text, "--- SKIP: ")
		if state, ok := strings.CutPrefix(text, "=== "); ok && !strings.HasPrefix(state, "NAME ") || passed {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}
