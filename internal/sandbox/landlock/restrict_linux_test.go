package landlock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/landlock"
)

// A probe is what the test binary does when it is started once more: it
// restricts one thread and executes itself from there, as the product does, and
// then says what it can still do.
type probe struct {
	Rules   landlock.Rules
	Capable bool   // root keeps its capabilities
	Signals bool   // try signals between programs instead of attempts
	Dir     string // has the folders and files of mustTree
	Parent  int
	Socket  string // name of an abstract socket of the parent
	Took    string // the restriction
}

const (
	probeVariable  = "LANDLOCK_PROBE"  // restrict a thread
	insideVariable = "LANDLOCK_INSIDE" // after that
)

func TestMain(m *testing.M) {
	if order := os.Getenv(probeVariable); order != "" {
		end(restrict(order))
	}
	if order := os.Getenv(insideVariable); order != "" {
		end(try(order))
	}
	code := m.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// end ends the process.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// restrict executes this program once more, and returns only if that fails.
func restrict(order string) error {
	var p probe
	if err := json.Unmarshal([]byte(order), &p); err != nil {
		return err
	}
	runtime.LockOSThread()
	if os.Getuid() == 0 && !p.Capable {
		if err := dropCapabilities(); err != nil {
			return err
		}
	}
	self, err := unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	p.Rules.Open = []int{self}
	start := time.Now()
	if err := landlock.Restrict(p.Rules); err != nil {
		return err
	}
	p.Took = time.Since(start).String()
	inside, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return unix.Exec("/proc/self/exe", os.Args, []string{insideVariable + "=" + string(inside), "GORACE=atexit_sleep_ms=0"})
}

func try(order string) error {
	var p probe
	if err := json.Unmarshal([]byte(order), &p); err != nil {
		return err
	}
	got := map[string]string{"took": p.Took}
	if p.Signals {
		got["one thread"], got["two threads"] = signal(false), signal(true)
	} else {
		maps.Copy(got, p.attempts())
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

// attempts returns "" or a short word for the error of each.
func (p probe) attempts() map[string]string {
	at := func(name string) string { return filepath.Join(p.Dir, name) }
	open := func(name string, mode int) error {
		f, err := os.OpenFile(name, mode, 0o600)
		if err == nil {
			f.Close()
		}
		return err
	}
	got := map[string]error{
		"read granted":       open(at("read/file"), os.O_RDONLY),
		"list granted":       list(at("read")),
		"execute granted":    exec.Command("/bin/true").Run(),
		"write read-only":    open(at("read/file"), os.O_WRONLY),
		"read single file":   open(at("single"), os.O_RDONLY),
		"read outside":       open(at("outside/file"), os.O_RDONLY),
		"write outside":      open(at("outside/file"), os.O_WRONLY),
		"create outside":     open(at("outside/new"), os.O_CREATE|os.O_WRONLY),
		"list outside":       list(at("outside")),
		"remove outside":     os.Remove(at("outside/removed")),
		"truncate outside":   unix.Truncate(at("outside/cut"), 0),
		"O_TRUNC outside":    open(at("read/cut"), os.O_RDONLY|os.O_TRUNC),
		"write granted":      os.WriteFile(at("write/new"), nil, 0o600),
		"truncate granted":   unix.Truncate(at("write/new"), 0),
		"make folder":        os.Mkdir(at("write/folder"), 0o700),
		"make device":        unix.Mknod(at("write/device"), unix.S_IFCHR|0o600, 0x103),
		"rename in folder":   os.Rename(at("write/new"), at("write/renamed")),
		"rename to folder":   os.Rename(at("write/renamed"), at("write/folder/renamed")),
		"rename out":         os.Rename(at("write/folder"), at("outside/folder")),
		"link in":            os.Link(at("read/file"), at("write/link")),
		"link and read":      linkAndRead(at("outside/file"), at("write/symlink")),
		"write device":       open("/dev/null", os.O_RDWR|os.O_TRUNC),
		"command to device":  command("/dev/null"),
		"read other device":  open("/dev/zero", os.O_RDONLY),
		"signal parent":      unix.Kill(p.Parent, 0),
		"environment parent": environment(p.Parent),
		"memory parent":      open(fmt.Sprintf("/proc/%d/mem", p.Parent), os.O_RDWR),
		"abstract socket":    dial("unix", "@"+p.Socket),
		"tcp":                dial("tcp", "127.0.0.1:1"),
		"other threads":      otherThreads(func() error { return open(at("outside/file"), os.O_RDONLY) }),
	}
	words := make(map[string]string, len(got))
	for name, err := range got {
		words[name] = word(err)
	}
	return words
}

// dropCapabilities is for the calling thread, and what it executes.
func dropCapabilities() error {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

func environment(pid int) error {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err == nil && len(content) == 0 {
		return errors.New("empty")
	}
	return err
}

func word(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func list(name string) error {
	_, err := os.ReadDir(name)
	return err
}

func linkAndRead(target, link string) error {
	if err := os.Symlink(target, link); err != nil {
		return nil
	}
	_, err := os.ReadFile(link)
	return err
}

func command(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err == nil {
		c.Close()
	}
	return err
}

// otherThreads returns nil if any of many threads does what f tries.
func otherThreads(f func() error) error {
	results := make(chan error, 30)
	var all sync.WaitGroup
	for range cap(results) {
		all.Go(func() {
			runtime.LockOSThread()
			results <- f()
		})
	}
	all.Wait()
	close(results)
	var last error
	for err := range results {
		if err == nil {
			return nil
		}
		last = err
	}
	return last
}

// mustTree makes the files that the attempts are about. Everybody may change
// all, so that only Landlock refuses.
func mustTree(t *testing.T) string {
	t.Helper()
	dir := mustOpenDir(t)
	for _, name := range []string{"read/file", "read/cut", "single", "outside/file", "outside/removed", "outside/cut", "write/old"} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must(t, os.Chmod(filepath.Dir(path), 0o777))
		must(t, os.WriteFile(path, []byte("canary"), 0o666))
		must(t, os.Chmod(path, 0o666))
	}
	return dir
}

// mustOpenDir returns a temporary folder that every user may enter.
func mustOpenDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "landlock")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	must(t, err)
	must(t, os.Chmod(dir, 0o777))
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustABI(t *testing.T) int {
	t.Helper()
	abi, err := landlock.ABI()
	if err != nil {
		t.Skip(err)
	}
	return abi
}

// mustBinary returns a copy of the test binary that every user may execute.
func mustBinary(t *testing.T) string {
	t.Helper()
	path, err := binary()
	must(t, err)
	return path
}

// binary is copied once; TestMain removes it.
var binary = sync.OnceValues(func() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(own)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "landlock")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "probe")
	return path, errors.Join(os.Chmod(folder, 0o755), os.WriteFile(path, content, 0o755), os.Chmod(path, 0o755))
})

// forUsers runs the test as an ordinary user, and as root where this is root.
func forUsers(t *testing.T, test func(t *testing.T, as *syscall.SysProcAttr)) {
	if os.Getuid() != 0 {
		test(t, &syscall.SysProcAttr{})
		return
	}
	t.Run("root", func(t *testing.T) { test(t, &syscall.SysProcAttr{}) })
	t.Run("user", func(t *testing.T) {
		test(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
	})
}

func mustProbe(t *testing.T, as *syscall.SysProcAttr, p probe) map[string]string {
	t.Helper()
	order, err := json.Marshal(p)
	must(t, err)
	command := exec.Command(mustBinary(t))
	command.Env = []string{probeVariable + "=" + string(order)}
	command.SysProcAttr = as
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	var got map[string]string
	must(t, json.Unmarshal(out, &got))
	t.Log("restricting took", got["took"])
	delete(got, "took")
	return got
}

func mustRules(t *testing.T, dir string) landlock.Rules {
	t.Helper()
	r := landlock.Rules{
		Read:    []string{filepath.Join(dir, "read"), filepath.Join(dir, "single"), "/proc", "/missing"},
		Write:   []string{filepath.Join(dir, "write")},
		Devices: []string{"/dev/null"},
		NoTCP:   true,
	}
	for _, path := range []string{"/usr", "/bin", "/lib", "/lib64"} {
		if followed, err := filepath.EvalSymlinks(path); err == nil {
			r.Read = append(r.Read, followed)
		}
	}
	return r
}

func TestRulesHoldForEachABI(t *testing.T) {
	kernel := mustABI(t)
	dir := mustOpenDir(t)
	socket := filepath.Base(dir)
	listener, err := net.Listen("unix", "@"+socket)
	must(t, err)
	defer listener.Close()
	for _, abi := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9} {
		if abi > kernel {
			break
		}
		t.Run(fmt.Sprint("ABI ", abi), func(t *testing.T) {
			forUsers(t, func(t *testing.T, as *syscall.SysProcAttr) {
				dir := mustTree(t)
				rules := mustRules(t, dir)
				rules.ABI = abi
				got := mustProbe(t, as, probe{Rules: rules, Dir: dir, Parent: os.Getpid(), Socket: socket})
				ordinary := as.Credential != nil || os.Getuid() != 0
				want := wanted(abi, ordinary && os.Getuid() == 0)
				if diff := cmp.Diff(got, want); diff != "" {
					t.Error(diff)
				}
				if content, _ := os.ReadFile(filepath.Join(dir, "outside/cut")); abi >= 3 && string(content) != "canary" {
					t.Errorf("outside/cut holds %q", content)
				}
			})
		})
	}
}

// wanted returns the answers under an ABI. A stranger is another user than the
// parent's.
func wanted(abi int, stranger bool) map[string]string {
	from := func(since int, word, before string) string {
		if abi >= since {
			return word
		}
		return before
	}
	want := map[string]string{
		"read granted": "", "list granted": "", "execute granted": "",
		"write read-only":    "EACCES",
		"read single file":   "",
		"read outside":       "EACCES",
		"write outside":      "EACCES",
		"create outside":     "EACCES",
		"list outside":       "EACCES",
		"remove outside":     "EACCES",
		"truncate outside":   from(3, "EACCES", ""),
		"O_TRUNC outside":    from(3, "EACCES", ""),
		"write granted":      "",
		"truncate granted":   "",
		"make folder":        "",
		"make device":        "EACCES",
		"rename in folder":   "",
		"rename to folder":   from(2, "", "EXDEV"),
		"rename out":         from(2, "EACCES", "EACCES"),
		"link in":            "EXDEV",
		"link and read":      "EACCES",
		"write device":       "",
		"command to device":  "ENOTTY",
		"read other device":  "EACCES",
		"signal parent":      from(6, "EPERM", ""),
		"environment parent": "EACCES",
		"memory parent":      "EACCES",
		"abstract socket":    from(6, "EPERM", ""),
		"tcp":                from(4, "EACCES", "ECONNREFUSED"),
		"other threads":      "EACCES",
	}
	if stranger {
		want["signal parent"] = "EPERM"
	}
	return want
}

// BenchmarkRules is what 320 rules cost, without their enforcement.
func BenchmarkRules(b *testing.B) {
	if _, err := landlock.ABI(); err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	var rules landlock.Rules
	for i := range 320 {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(path, 0o700); err != nil {
			b.Fatal(err)
		}
		rules.Read = append(rules.Read, path)
	}
	for b.Loop() {
		if err := landlock.Build(rules); err != nil {
			b.Fatal(err)
		}
	}
}

// Linux 6.14 and later let CAP_PERFMON read /proc/PID/environ and maps in spite of
// Landlock, so root gives up its capabilities before it relies on Landlock.
func TestRootWithCapabilitiesIsNotHeld(t *testing.T) {
	mustABI(t)
	if os.Getuid() != 0 {
		t.Skip("not root")
	}
	dir := mustTree(t)
	got := mustProbe(t, &syscall.SysProcAttr{}, probe{Rules: mustRules(t, dir), Capable: true, Dir: dir, Parent: os.Getpid()})
	t.Logf("environment of the parent: %q, its memory: %q", got["environment parent"], got["memory parent"])
	if got["memory parent"] != "EACCES" {
		t.Error("the parent's memory can be opened")
	}
}

func TestRuleThroughALinkIsRefused(t *testing.T) {
	mustABI(t)
	dir := mustTree(t)
	must(t, os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "link")))
	for _, path := range []string{"link", "link/file"} {
		err := landlock.Restrict(landlock.Rules{Write: []string{filepath.Join(dir, path)}})
		if err == nil || !strings.Contains(err.Error(), "through a link") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// Programs that different threads started signal each other only if they are in one
// domain, which is why the product restricts one thread and executes itself from there.
func TestProgramsOfAllThreadsAreInOneDomain(t *testing.T) {
	abi := mustABI(t)
	if abi < 6 {
		t.Skip("signals are not restricted")
	}
	rules := landlock.Rules{Read: []string{"/"}, Devices: []string{"/dev/null"}}
	got := mustProbe(t, &syscall.SysProcAttr{}, probe{Rules: rules, Signals: true})
	if diff := cmp.Diff(got, map[string]string{"one thread": "", "two threads": ""}); diff != "" {
		t.Error(diff)
	}
}

// signal starts a program, and another one that signals it, from one thread or
// from another.
func signal(otherThread bool) string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first := exec.Command("/bin/sleep", "10")
	if err := first.Start(); err != nil {
		return err.Error()
	}
	defer first.Wait()
	defer first.Process.Kill()
	kill := func() string {
		err := exec.Command("/bin/sh", "-c", fmt.Sprint("kill -0 ", first.Process.Pid, " 2>/dev/null")).Run()
		if err != nil {
			return "EPERM"
		}
		return ""
	}
	if !otherThread {
		return kill()
	}
	got := make(chan string)
	go func() {
		runtime.LockOSThread() // the thread of the first is taken, so this is another one
		got <- kill()
	}()
	return <-got
}
