//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestAKeeperWithoutWallsAsksBeforeItKills: what is detached may end in its own way, and is
// killed if it does not.
func TestAKeeperWithoutWallsAsksBeforeItKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := mustStart(t, sandbox.Policy{})
	out, code := sh(t, k, "cd "+dir+`
(setsid sh -c 'trap "echo asked > asked; exit" TERM; echo $$ > polite; while :; do sleep 0.01; done' >/dev/null 2>&1 &)
(setsid sh -c 'trap "" TERM; echo $$ > stubborn; exec sleep 1000' >/dev/null 2>&1 &)
(setsid sh -c 'trap "echo asked > woken; exit" TERM; echo $$ > stopped; kill -STOP $$; exec sleep 1000' >/dev/null 2>&1 &)
while ! [ -s polite ] || ! [ -s stubborn ] || ! [ -s stopped ]; do sleep 0.01; done`)
	if code != 0 {
		t.Fatal(out)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"polite", "stubborn", "stopped"} {
		b, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(b))); err == nil {
			t.Errorf("the %s one still runs", name)
		}
	}
	for _, name := range []string{"asked", "woken"} {
		if _, err := os.Stat(dir + "/" + name); err != nil {
			t.Error("one that could end in its own way was killed at once:", err)
		}
	}
}

// TestAKeeperWithoutWallsEndsAChain, whose processes are never there when one looks.
func TestAKeeperWithoutWallsEndsAChain(t *testing.T) {
	t.Parallel()
	k, dir := startChain(t, sandbox.None, 0)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if grows(dir, "chain") {
		t.Error("the chain goes on")
	}
	if info, err := os.Stat(dir + "/chain"); err != nil || info.Size() >= wholeChain {
		t.Errorf("it came to its own end: %v", err)
	}
}

// TestWithoutWallsAProgramHasWhatItAlwaysHas: no file of the keeper, no other limits, no walls.
func TestWithoutWallsAProgramHasWhatItAlwaysHas(t *testing.T) {
	t.Parallel()
	k := mustStart(t, sandbox.Policy{})
	if files, _ := sh(t, k, "ls -C /proc/self/fd"); strings.Join(strings.Fields(files), " ") != "0 1 2 3" { // 3 is the folder that ls reads
		t.Errorf("it has the files %s", files)
	}
	line := "ulimit -n; umask; grep -e NoNewPrivs -e Seccomp: -e SigIgn -e SigBlk /proc/self/status; trap"
	inside, _ := sh(t, k, line)
	var outside strings.Builder
	if _, err := proc.Run(t.Context(), proc.Command{Path: "/bin/sh", Args: []string{"-c", line}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &outside, Stderr: &outside}); err != nil {
		t.Fatal(err)
	}
	if inside != strings.TrimSpace(outside.String()) {
		t.Errorf("below a keeper:\n%s\notherwise:\n%s", inside, outside.String())
	}
}

// TestAProgramEndsWithAKilledKeeper that has no walls: no guard is above it.
func TestAProgramEndsWithAKilledKeeper(t *testing.T) {
	t.Parallel()
	k := mustStart(t, sandbox.Policy{})
	p, err := proc.Start(context.Background(), proc.Command{Path: "/bin/sleep", Args: []string{"1000"}, Dir: "/", Launcher: k})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err := sandbox.KillKeeper(k); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Wait(t.Context()); err != nil || s.Code != 137 {
		t.Errorf("it ended with %d, %v", s.Code, err)
	}
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if syscall.Kill(p.PID(), 0) != nil || zombie(p.PID()) {
			return
		}
		if time.Now().After(late) {
			t.Fatal("it still runs")
		}
	}
}

// TestWithoutWallsErrorsNameNoSandbox, which the user has switched off.
func TestWithoutWallsErrorsNameNoSandbox(t *testing.T) {
	t.Parallel()
	k := mustStart(t, sandbox.Policy{})
	if err := sandbox.StopSending(k); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, gone := k.Launch(proc.Spec{Path: "/bin/true", Args: []string{"true"}, Dir: "/"})
	_, start := sandbox.Start(late, sandbox.Config{})
	if !errors.Is(gone, sandbox.ErrGone) || start == nil {
		t.Errorf("got %v and %v", gone, start)
	}
	for _, err := range []error{gone, start} {
		if err != nil && strings.Contains(err.Error(), "sandbox") {
			t.Errorf("it says %q", err)
		}
	}
}

// TestWhatAKilledKeeperLeavesEndsWithIt: without walls no guard is above it. A process that adopts orphans ends
// what was detached; another one says that it may still run. It is tried in a process of its own, since it changes
// whose children others are.
func TestWhatAKilledKeeperLeavesEndsWithIt(t *testing.T) {
	const inside = "SANDBOX_TEST_ADOPTS"
	if os.Getenv(inside) == "" {
		t.Parallel()
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), inside+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	lose := func(signal string) (detached int, err error) {
		k := mustStart(t, sandbox.Policy{})
		file := filepath.Join(t.TempDir(), "pid")
		sh(t, k, `setsid sh -c "(setsid env -i /bin/sh -c 'echo \$\$ > `+file+`; exec /bin/sleep 1000' >/dev/null 2>&1 &)"; while ! [ -s `+file+` ]; do sleep 0.01; done; kill -`+signal+` $PPID; exec sleep 1000`)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if detached, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
			t.Fatal(err)
		}
		return detached, k.Close()
	}
	gone := func(pid int) bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }
	pid, err := lose("KILL")
	if err == nil || !strings.Contains(err.Error(), "may still run") || gone(pid) {
		t.Errorf("closing says %v, and what was detached has ended: %t", err, gone(pid))
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	defer proc.AdoptOrphans()()
	for _, signal := range []string{"KILL", "ABRT"} {
		pid, err := lose(signal)
		if err != nil {
			t.Errorf("after SIG%s closing says %v", signal, err)
		}
		if !gone(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("after SIG%s what was detached still runs", signal)
		}
	}
}

// zombie reports whether a process has ended and was not collected, as in a container without init.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}
