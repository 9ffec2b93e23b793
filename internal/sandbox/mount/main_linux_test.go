package mount_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// The test binary starts itself again, in new namespaces, with this variable. As the
// product does, it builds a root and drops its capabilities on one thread, and
// executes itself once more from there; then it runs scripts.
const insideVariable = "MOUNT_TEST_INSIDE"

// What the variable may be.
const (
	buildsRoot  = "builds"
	runsScripts = "runs"
)

func TestMain(m *testing.M) {
	switch os.Getenv(insideVariable) {
	case buildsRoot:
		runBuild()
		return
	case runsScripts:
		runScripts()
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
	Threads     int      // of the process that ran the scripts
	Capable     int      // those of them that have or can get a capability
	Runs        []run
}

// run is one script's output, both streams, and its exit status.
type run struct {
	Out  string
	Code int
}

// built is what the process that built the root hands to the one that it becomes.
type built struct {
	Job     job
	Outcome outcome
}

func runBuild() {
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
		answer(o)
		return
	}
	for _, fd := range descriptors() {
		if !slices.Contains(before, fd) {
			o.Opened = append(o.Opened, fd)
		}
	}
	if err := mount.Drop(); err != nil {
		panic(err)
	}
	panic(again(built{j, o}))
}

// again executes the test binary, which reads b from its standard input. It returns
// only if that fails.
func again(b built) error {
	fd, err := unix.MemfdCreate("built", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "built")
	if err := json.NewEncoder(f).Encode(b); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := unix.Dup3(fd, 0, 0); err != nil {
		return err
	}
	if err := os.Setenv(insideVariable, runsScripts); err != nil {
		return err
	}
	return unix.Exec("/proc/self/exe", os.Args, os.Environ())
}

func runScripts() {
	var b built
	if err := json.NewDecoder(os.Stdin).Decode(&b); err != nil {
		panic(err)
	}
	for _, script := range b.Job.Scripts {
		b.Outcome.Runs = append(b.Outcome.Runs, runScript(script, b.Job.Env))
	}
	b.Outcome.Threads, b.Outcome.Capable = threads()
	answer(b.Outcome)
}

func answer(o outcome) {
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
	cmd.Env = append(os.Environ(), insideVariable+"="+buildsRoot, "GORACE=atexit_sleep_ms=0")
	cmd.Stdin = bytes.NewReader(in)
	cmd.SysProcAttr = mount.Attr()
	return cmd
}

// threads counts the threads of this process, and those that have or can get a
// capability.
func threads() (all, capable int) {
	files, _ := filepath.Glob("/proc/self/task/*/status")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		all++
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "Cap") && strings.Trim(line[7:], "\t0\n") != "" {
				capable++
				break
			}
		}
	}
	return all, capable
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
