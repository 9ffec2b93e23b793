//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"fmt"
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
	"hermes/internal/sandbox/landlock"
)

// chainLine runs a chain of processes, each of which writes a byte, starts the next and
// ends: no list shows them all. It is bounded, since each step takes a process id from the
// whole machine.
const chainLine = `printf 'echo x >> chain; [ $1 -ge 5000 ] || sh step $(($1+1)) &\n' > step; setsid sh step 1 >/dev/null 2>&1 &
while ! [ -s chain ]; do sleep 0.01; done`

// wholeChain is the size of the file of a chain that came to its own end.
const wholeChain = 5000 * int64(len("x\n"))

// startChain starts a keeper and a chain in the background of it.
func startChain(t *testing.T, l sandbox.Layer, abi int) (*sandbox.Keeper, string) {
	t.Helper()
	p := policy(t, l)
	k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p, ABI: abi})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	if out, code := sh(t, k, "cd "+p.Write[0]+"; "+chainLine); code != 0 || !goesOn(p.Write[0], "chain") {
		t.Fatalf("the chain does not run: %s", out)
	}
	return k, p.Write[0]
}

// endings are the ways in which all inside is signalled. ABI 0 is the kernel's.
var endings = []struct {
	layer sandbox.Layer
	abi   int
}{{sandbox.A, 0}, {sandbox.B, 0}, {sandbox.B, 5}}

// inEachEnding runs a test for each way in which a keeper can end, which before begins.
func inEachEnding(t *testing.T, test func(t *testing.T, layer sandbox.Layer, abi int, before func(*sandbox.Keeper) error)) {
	t.Cleanup(proc.AdoptOrphans()) // as the program does
	for _, c := range endings {
		for name, before := range map[string]func(*sandbox.Keeper) error{
			"closed":    func(*sandbox.Keeper) error { return nil },
			"killed":    sandbox.KillKeeper,
			"unguarded": sandbox.KillGuard,
		} {
			if c.layer == sandbox.A && name == "unguarded" { // it has none
				continue
			}
			t.Run(fmt.Sprintf("layer %s, ABI %d, %s", c.layer, c.abi, name), func(t *testing.T) { test(t, c.layer, c.abi, before) })
		}
	}
}

// TestAChainIsEnded in each way, also where signals reach others than those inside (ABI 5),
// and where a guard can be killed from inside.
func TestAChainIsEnded(t *testing.T) {
	inEachEnding(t, func(t *testing.T, layer sandbox.Layer, abi int, before func(*sandbox.Keeper) error) {
		k, dir := startChain(t, layer, abi)
		if err := before(k); err != nil {
			t.Fatal(err)
		}
		err := k.Close()
		if grows(dir, "chain") {
			t.Errorf("it runs after Close returned %v", err)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestAProcessWithoutItsFirstThread is no zombie: it is frozen, and ended with its keeper,
// its guard and its owner.
func TestAProcessWithoutItsFirstThread(t *testing.T) {
	inEachEnding(t, func(t *testing.T, layer sandbox.Layer, abi int, before func(*sandbox.Keeper) error) {
		p := policy(t, layer)
		caller := withCaller(t, &p)
		k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p, ABI: abi})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		dir := p.Write[0]
		if out, code := sh(t, k, "cd "+dir+"; setsid "+caller+"headless headless >/dev/null 2>&1 & cd "+dir+"; while ! [ -s headless ]; do sleep 0.01; done"); code != 0 || !goesOn(dir, "headless") {
			t.Fatalf("it does not run: %s", out)
		}
		if k.Empty() {
			t.Error("the keeper is empty")
		}
		thaw, err := k.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		if grows(dir, "headless") {
			t.Error("it runs while it is frozen")
		}
		thaw()
		if !goesOn(dir, "headless") {
			t.Error("it does not go on")
		}
		if err := before(k); err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if grows(dir, "headless") {
			t.Error("it runs after Close")
		}
	})
}

func TestAChainIsFrozen(t *testing.T) {
	for _, c := range endings {
		k, dir := startChain(t, c.layer, c.abi)
		thaw, err := k.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		if grows(dir, "chain") {
			t.Errorf("layer %s, ABI %d: it runs while it is frozen", c.layer, c.abi)
		}
		thaw()
		if !goesOn(dir, "chain") {
			t.Errorf("layer %s, ABI %d: it does not go on", c.layer, c.abi)
		}
		k.Close()
	}
}

// TestOnlyWhatIsInsideIsEnded: the signal to all reaches no other process of the user, and
// nothing inside reaches the guard.
func TestOnlyWhatIsInsideIsEnded(t *testing.T) {
	t.Parallel()
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	for _, l := range bothLayers {
		neighbour := mustStart(t, policy(t, l))
		k := mustStart(t, policy(t, l))
		thaw, err := k.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		thaw()
		if abi, _ := landlock.ABI(); l == sandbox.B && landlock.ScopesSignals(abi) {
			for _, pid := range []int{sandbox.GuardPID(k), other.Process.Pid, sandbox.KeeperPID(neighbour), os.Getpid()} {
				if _, code := sh(t, k, "kill -0 "+strconv.Itoa(pid)+" || kill -STOP "+strconv.Itoa(pid)); code == 0 {
					t.Errorf("a program inside signals process %d", pid)
				}
			}
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if out, code := sh(t, neighbour, "echo here"); out != "here" || code != 0 {
			t.Errorf("layer %s: another keeper ended with this one: %q, %d", l, out, code)
		}
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(other.Process.Pid) + "/stat"); err != nil || !strings.Contains(string(b), ") S ") {
			t.Errorf("layer %s: another process of the user: %s, %v", l, b, err)
		}
	}
}

// TestWhatUsersStoppedStaysStopped through a freeze.
func TestWhatUsersStoppedStaysStopped(t *testing.T) {
	t.Parallel()
	for _, l := range bothLayers {
		p := policy(t, l)
		k := mustStart(t, p)
		sh(t, k, "cd "+p.Write[0]+`; for f in stopped runs; do setsid sh -c 'echo $$ > $0.pid; while :; do echo x >> $0; sleep 0.01; done' $f >/dev/null 2>&1 & done
while ! [ -s stopped ] || ! [ -s runs ]; do sleep 0.01; done; kill -STOP $(cat stopped.pid)`)
		if grows(p.Write[0], "stopped") {
			t.Fatalf("layer %s: it is not stopped", l)
		}
		for range 2 { // once in the other
			thaw, err := k.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			defer thaw()
			again, err := k.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			again()
			if grows(p.Write[0], "runs") {
				t.Errorf("layer %s: it runs while something else wants it frozen", l)
			}
			thaw()
			if a, b := goesOn(p.Write[0], "runs"), grows(p.Write[0], "stopped"); !a || b {
				t.Errorf("layer %s: after a freeze, what ran goes on: %t, what was stopped: %t", l, a, b)
			}
		}
	}
}

// TestWhatIsLeftIsReported: nobody adopts what a killed guard leaves, so that it cannot be found.
func TestWhatIsLeftIsReported(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for its end")
	}
	p := policy(t, sandbox.B)
	k := mustStart(t, p)
	sh(t, k, "cd "+p.Write[0]+"; setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 & while ! [ -s "+p.Write[0]+"/pid ]; do sleep 0.01; done")
	b, err := os.ReadFile(filepath.Join(p.Write[0], "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	// Both at once: each would end what is inside.
	if err := syscall.Kill(sandbox.KeeperPID(k), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	state := func(pid int) string {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, state, _ := strings.Cut(string(b), ") ")
		return state
	}
	if !eventually(func() bool { return strings.HasPrefix(state(sandbox.KeeperPID(k)), "T") }) {
		t.Fatal("the keeper does not stop")
	}
	if err := sandbox.KillGuard(k); err != nil {
		t.Fatal(err)
	}
	if err := sandbox.KillKeeper(k); err != nil {
		t.Fatal(err)
	}
	err = k.Close()
	ended := func() bool { return state(pid) == "" || strings.HasPrefix(state(pid), "Z") } // it may not be collected yet
	if err == nil && !eventually(ended) || err != nil && ended() {                         // what was killed is on its way for a moment
		t.Errorf("Close: %v; process %d: %q", err, pid, state(pid))
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// TestAChainIsEndedWhenTheOwnerIsKilled by force.
func TestAChainIsEndedWhenTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	for _, layer := range []string{"A", "B", "B5"} {
		endsWithTheOwner(t, layer, chainLine+"; sleep 100", "chain")
	}
}

func TestAProcessWithoutItsFirstThreadIsEndedWhenTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range []string{"A", "B", "B5"} {
		endsWithTheOwner(t, layer, "setsid "+self+" "+callArg+" headless headless >/dev/null 2>&1 & sleep 100", "headless")
	}
}

// endsWithTheOwner runs a line that writes to a file below a keeper, and kills its owner.
func endsWithTheOwner(t *testing.T, layer, line, file string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, callArg, "owner", layer, dir, line)
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if !goesOn(dir, file) {
		t.Errorf("layer %s: what writes %s does not run", layer, file)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if !eventually(func() bool { return !grows(dir, file) }) || file == "chain" && sizeOf(dir, file) >= wholeChain {
		t.Errorf("layer %s: what writes %s outlives the owner", layer, file)
	}
}

// own is a program that starts a keeper and is killed: it starts a line and waits.
func own(layer, dir, line string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p := sandbox.Policy{Layer: sandbox.B, Read: []string{"/usr", "/etc", self}, Write: []string{dir}, Temp: dir, Home: dir, PrivateHome: dir}
	c := sandbox.Config{}
	switch layer {
	case "A":
		p.Layer = sandbox.A
	case "B5":
		c.ABI = 5
	}
	c.Policy = p
	k, err := sandbox.Start(context.Background(), c)
	if err != nil {
		return err
	}
	_, err = proc.Start(context.Background(), proc.Command{Path: "/bin/sh", Args: []string{"-c", line}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Launcher: k})
	if err != nil {
		return err
	}
	select {}
}
