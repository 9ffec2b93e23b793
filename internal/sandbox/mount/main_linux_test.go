package mount_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/mount"
)

// The test binary starts itself again, in new namespaces, with this variable: it
// then builds a root and runs scripts in it.
const insideVariable = "MOUNT_TEST_INSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) != "" {
		runInside()
		return
	}
	if attack := os.Getenv(attackVariable); attack != "" {
		fmt.Println(attacks[attack](os.Args[1:]))
		return
	}
	os.Exit(m.Run())
}

// job is what the child is to do.
type job struct {
	Root    mount.Root
	Scripts []string
	Env     []string
	Umask   int
	Mask    bool // first covers a part of /proc, as containers do, and starts once more
}

// outcome is what came of it.
type outcome struct {
	Report      mount.Report
	Error       string
	Unavailable bool
	Took        time.Duration
	Opened      []string // descriptors that Build left open
	Threads     int      // threads that kept a capability, -1 if only one dropped them
	Runs        []run
}

// run is one script's output, both streams, and its exit status.
type run struct {
	Out  string
	Code int
}

func runInside() {
	runtime.LockOSThread()
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		panic(err)
	}
	if j.Mask {
		j.Mask = false
		runMasked(j)
		return
	}
	if j.Umask != 0 {
		unix.Umask(j.Umask)
	}
	var o outcome
	// Once, so that the runtime's own descriptors (of its poller) are there.
	_ = descriptors()
	before := descriptors()
	start := time.Now()
	report, err := mount.Build(j.Root)
	o.Took = time.Since(start)
	o.Report = report
	if err != nil {
		o.Error, o.Unavailable = err.Error(), errors.Is(err, mount.ErrUnavailable)
	} else {
		for _, fd := range descriptors() {
			if !slices.Contains(before, fd) {
				o.Opened = append(o.Opened, fd)
			}
		}
		o.Threads = drop()
		for _, script := range j.Scripts {
			o.Runs = append(o.Runs, runScript(script, j.Env))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
}

// runMasked does the job in a child, for which a mount of this process is locked.
func runMasked(j job) {
	// The child's maps are written through a /proc of this pid namespace.
	for _, m := range [][2]string{{"/proc", "proc"}, {"/proc/sys", "tmpfs"}} {
		if err := unix.Mount("none", m[0], m[1], 0, ""); err != nil {
			panic(err)
		}
	}
	cmd := inside(j)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}

// inside is the command that does a job in new namespaces.
func inside(j job) *exec.Cmd {
	in, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	// By its path: Build refuses a program that was started through /proc/self/exe.
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Args[0] = "inside"
	cmd.Env = append(os.Environ(), insideVariable+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdin = bytes.NewReader(in)
	cmd.SysProcAttr = mount.Attr()
	return cmd
}

// drop drops the capabilities of all threads, and returns how many kept some. A
// binary that is linked with C code, as with the race detector, cannot do that:
// then only this thread's are dropped, which starts the scripts.
func drop() int {
	err := mount.Drop()
	if errors.Is(err, unix.ENOTSUP) {
		for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == nil; c++ {
		}
		_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil {
			panic(err)
		}
		return -1
	}
	if err != nil {
		panic(err)
	}
	n := 0
	files, _ := filepath.Glob("/proc/self/task/*/status")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "Cap") && strings.Trim(line[7:], "\t0\n") != "" {
				n++
				break
			}
		}
	}
	return n
}

func descriptors() []string {
	var all []string
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			// The runtime holds files of the host's control groups, whose names change.
			if !strings.Contains(to, "cpu.") {
				all = append(all, link+" "+to)
			}
		}
	}
	return all
}

// prelude are functions for scripts: ns runs a script with all capabilities in user
// and mount namespaces of its own, as root if it can; go runs one of attacks.
const prelude = `
ns() { unshare -Urm --propagation unchanged sh -c "$1" || unshare -Um --keep-caps --propagation unchanged sh -c "$1"; }
go() { MOUNT_TEST_ATTACK=$1; export MOUNT_TEST_ATTACK; shift; /proc/1/exe "$@"; }
`

func runScript(script string, env []string) run {
	cmd := exec.Command("/bin/sh", "-c", prelude+script)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "GORACE=atexit_sleep_ms=0"}, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return run{Out: err.Error(), Code: -1}
	}
	return run{Out: strings.TrimSpace(string(out)), Code: cmd.ProcessState.ExitCode()}
}

// build builds a root in a new process and runs scripts in it.
func build(t *testing.T, j job) outcome {
	t.Helper()
	o := mayBuild(t, j)
	if o.Unavailable {
		unavailable(t, o.Error)
	}
	if o.Error != "" {
		t.Fatalf("Build: %s", o.Error)
	}
	return o
}

// unavailable skips a test where the host allows no namespaces, except where all
// tests are to run.
func unavailable(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func mayBuild(t *testing.T, j job) outcome {
	t.Helper()
	var stderr bytes.Buffer
	cmd := inside(j)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		unavailable(t, err.Error())
	}
	if err != nil {
		t.Fatalf("child: %v\n%s", err, stderr.String())
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("child said %q: %v", out, err)
	}
	return o
}

// TestAsOrdinaryUser runs all tests once more as a user without rights.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	const user = 65534
	dir := folder(t)
	binary := filepath.Join(dir, "mount.test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, binary} {
		if err := os.Chown(path, user, user); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "-test.v", "-test.skip=^Benchmark")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as user %d: %v", user, err)
	}
	for line := range strings.Lines(string(out)) {
		if err != nil || strings.Contains(line, "SKIP") {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
}
