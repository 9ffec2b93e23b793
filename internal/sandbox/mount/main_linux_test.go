package mount_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
	os.Exit(m.Run())
}

// job is what the child is to do.
type job struct {
	Root    mount.Root
	Scripts []string
	Env     []string
	Keep    bool // does not drop its capabilities, for tests of what they would allow
}

// outcome is what came of it.
type outcome struct {
	Report      mount.Report
	Error       string
	Unavailable bool
	Took        time.Duration
	Opened      []string // descriptors that Build left open
	Threads     int      // threads that kept a capability
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
		if !j.Keep {
			drop()
			o.Threads = threadsWithCapabilities()
		}
		for _, script := range j.Scripts {
			o.Runs = append(o.Runs, runScript(script, j.Env))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
}

// drop drops the capabilities of all threads. With the race detector the binary has
// C code, so only this thread's are dropped; commands are started by this thread.
func drop() {
	err := mount.Drop()
	if errors.Is(err, unix.ENOTSUP) {
		for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == nil; c++ {
		}
		_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		err = unix.Capset(&header, &none[0])
	}
	if err != nil {
		panic(err)
	}
}

func threadsWithCapabilities() int {
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
			all = append(all, link+" "+to)
		}
	}
	return all
}

func runScript(script string, env []string) run {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}, env...)
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(self)
	cmd.Args[0] = "inside"
	cmd.Env = append(os.Environ(), insideVariable+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = &stderr
	cmd.SysProcAttr = mount.Attr()
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

// system are the folders that programs need.
func system(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, path := range []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64"} {
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// folder returns a new folder that others may enter, with links followed.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// files makes files below dir: a name that ends in a slash is a folder.
func files(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("real "+filepath.Base(name)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree lists what is below dir, so that what changed can be seen.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			all = append(all, d.Type().String()+" "+path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
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
