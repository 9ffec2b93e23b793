//go:build amd64 || arm64

package seccomp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/race"
	"hermes/internal/sandbox/landlock"
	"hermes/internal/sandbox/seccomp"
)

// walls are what the test binary, started once more, builds round itself. Then it
// executes itself again and runs a probe, or another program.
type walls struct {
	Filter     seccomp.Filter
	Rules      *landlock.Rules
	Simulation *seccomp.Simulation
	Probe      string
	Program    []string          // instead of Probe
	Stay       bool              // run the probe without executing again
	Args       map[string]string // for the probe
}

const (
	wallsVariable = "SECCOMP_WALLS" // build walls
	probeVariable = "SECCOMP_PROBE" // inside them
	againVariable = "SECCOMP_AGAIN" // the tests run a second time, as another user
)

func TestMain(m *testing.M) {
	if order := os.Getenv(wallsVariable); order != "" {
		fail(build(order))
	}
	if order := os.Getenv(probeVariable); order != "" {
		fail(probe(order))
	}
	os.Exit(m.Run())
}

// fail ends the process.
func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

func build(order string) error {
	var w walls
	if err := json.Unmarshal([]byte(order), &w); err != nil {
		return err
	}
	if w.Stay {
		// The probe runs in these threads, which are older than the filter.
		startThreads()
	}
	runtime.LockOSThread()
	if err := dropCapabilities(); err != nil {
		return err
	}
	if w.Simulation != nil {
		if err := w.Simulation.Install(); err != nil {
			return err
		}
	}
	if w.Rules != nil {
		if err := landlock.Restrict(*w.Rules); err != nil {
			return err
		}
	}
	fd, err := w.Filter.Install()
	if err != nil {
		return err
	}
	if fd >= 0 {
		if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(fd), nil, 0); err != nil {
			return err
		}
		unix.Close(fd)
	}
	unix.Close(3)
	if w.Stay {
		return probe(order)
	}
	if len(w.Program) > 0 {
		return unix.Exec(w.Program[0], w.Program, []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"})
	}
	return unix.Exec(os.Args[0], os.Args[:1], []string{probeVariable + "=" + order})
}

func dropCapabilities() error {
	if os.Getuid() != 0 {
		return nil
	}
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

func probe(order string) error {
	var w walls
	if err := json.Unmarshal([]byte(order), &w); err != nil {
		return err
	}
	run, ok := probes()[w.Probe]
	if !ok {
		return fmt.Errorf("no probe %q", w.Probe)
	}
	return json.NewEncoder(os.Stdout).Encode(run(w.Args))
}

// inside is a process inside walls.
type inside struct {
	t        *testing.T
	command  *exec.Cmd
	out      bytes.Buffer
	complain bytes.Buffer
	served   chan error // of the supervisor; nil without one
	cancel   context.CancelFunc
}

// mustStart starts a process inside walls, under the supervisor if it is not nil.
func mustStart(t *testing.T, w walls, s *seccomp.Supervisor) *inside {
	t.Helper()
	order, err := json.Marshal(w)
	must(t, err)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	theirs := os.NewFile(uintptr(pair[1]), "control")
	own, err := os.Executable()
	must(t, err)
	p := &inside{t: t, command: exec.Command(own)}
	p.command.Env = []string{wallsVariable + "=" + string(order)}
	p.command.ExtraFiles = []*os.File{theirs}
	p.command.Stdout, p.command.Stderr = &p.out, &p.complain
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, p.command.Start())
	theirs.Close()
	t.Cleanup(func() { unix.Kill(-p.command.Process.Pid, unix.SIGKILL) })
	defer unix.Close(pair[0])
	if s == nil {
		return p
	}
	buffer, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], buffer, rights, unix.MSG_CMSG_CLOEXEC)
	must(t, err)
	if n == 0 {
		p.command.Wait()
		t.Fatalf("no listener: %s", p.complain.String())
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	must(t, err)
	fds, err := unix.ParseUnixRights(&messages[0])
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	t.Cleanup(cancel)
	p.served = make(chan error, 1)
	go func() { p.served <- s.Serve(ctx, fds[0]) }()
	return p
}

// wait returns how the process ended, after the supervisor returned, too.
func (p *inside) wait() error {
	p.t.Helper()
	err := p.command.Wait()
	if p.served == nil {
		return err
	}
	select {
	case served := <-p.served:
		if served != nil {
			p.t.Errorf("supervisor: %v", served)
		}
	case <-time.After(10 * time.Second):
		p.t.Error("the supervisor goes on after all processes ended")
	}
	return err
}

// answers returns what the probe answered.
func (p *inside) answers() map[string]string {
	p.t.Helper()
	if err := p.wait(); err != nil {
		p.t.Fatalf("%v: %s", err, p.complain.String())
	}
	var got map[string]string
	if err := json.Unmarshal(p.out.Bytes(), &got); err != nil {
		p.t.Fatalf("%v: %s", err, p.out.String())
	}
	return got
}

// mustRules grants what programs need, and the folder.
func mustRules(t *testing.T, folder string) *landlock.Rules {
	t.Helper()
	if _, err := landlock.ABI(); err != nil {
		t.Skip(err)
	}
	own, err := os.Executable()
	must(t, err)
	own, err = filepath.EvalSymlinks(own)
	must(t, err)
	r := &landlock.Rules{
		Read:    []string{own, "/proc"},
		Write:   []string{folder},
		Devices: []string{"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"},
		NoTCP:   true,
	}
	for _, path := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"} {
		if followed, err := filepath.EvalSymlinks(path); err == nil {
			r.Read = append(r.Read, followed)
		}
	}
	return r
}

// mustFolder returns a temporary folder without links in its path.
func mustFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustListen listens on a free port of 127.0.0.1, outside the walls, and counts
// connections.
func mustListen(t *testing.T) (port string, taken func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	counts := make(chan int, 1)
	counts <- 0
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			counts <- 1 + <-counts
		}
	}()
	t.Cleanup(func() { l.Close() })
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port), func() int { n := <-counts; counts <- n; return n }
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

// TestAgainAsOrdinaryUser runs the other tests as a user without rights, so that
// the supervisor has none either.
func TestAgainAsOrdinaryUser(t *testing.T) {
	if race.Enabled {
		t.Skip("runs all tests once more, and the run without the race detector has it")
	}
	if os.Getuid() != 0 || os.Getenv(againVariable) != "" {
		t.Skip("this is an ordinary user already")
	}
	own, err := os.Executable()
	must(t, err)
	content, err := os.ReadFile(own)
	must(t, err)
	folder, err := os.MkdirTemp("", "seccomp")
	must(t, err)
	defer os.RemoveAll(folder)
	must(t, os.Chmod(folder, 0o777))
	binary := filepath.Join(folder, "seccomp.test")
	must(t, os.WriteFile(binary, content, 0o755))
	must(t, os.Chmod(binary, 0o755))
	command := exec.Command(binary, "-test.v", "-test.timeout=100s")
	command.Dir = folder
	command.Env = append(os.Environ(), againVariable+"=1", "TMPDIR="+folder, "HOME="+folder)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- SKIP") || strings.Contains(line, "took") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
