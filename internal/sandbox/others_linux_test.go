//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestProgramsLimitEachOtherOnly: a keeper that can open no file cannot freeze.
func TestProgramsLimitEachOtherOnly(t *testing.T) {
	t.Parallel()
	for _, l := range bothLayers {
		p := policy(t, l)
		caller := withCaller(t, &p)
		k := mustStart(t, p)
		dir := p.Write[0]
		sh(t, k, "cd "+dir+"; setsid sh -c 'while :; do echo x >> runs; sleep 0.01; done' >/dev/null 2>&1 & while ! [ -s "+dir+"/runs ]; do sleep 0.01; done")
		for line, want := range map[string]string{
			caller + "limit $PPID": "operation not permitted",
			"for t in /proc/$PPID/task/*; do " + caller + "limit ${t##*/}; done | grep -v 'operation not permitted'": "",
			caller + "limit " + strconv.Itoa(os.Getpid()):                                                            "operation not permitted",
			caller + "limit " + strconv.Itoa(sandbox.GuardPID(k)):                                                    "operation not permitted",
			"sleep 100 & " + caller + "limit $!; kill $!":                                                            "<nil>",
			caller + "limit 0":       "<nil>",
			caller + "limited $$":    "<nil>",
			caller + "limited $PPID": "<nil>",
		} {
			if out, _ := sh(t, k, line); out != want {
				t.Errorf("layer %s: %s: %q, want %q", l, line, out, want)
			}
		}
		thaw, err := k.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		if grows(dir, "runs") {
			t.Errorf("layer %s: it runs while it is frozen", l)
		}
		thaw()
	}
}

// TestAShortageIsNoProofOfTheHost: whatever is missing, and wherever it is noticed.
func TestAShortageIsNoProofOfTheHost(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, resource := range map[string]int{"files": unix.RLIMIT_NOFILE, "processes": unix.RLIMIT_NPROC} {
		if name == "processes" && os.Getuid() == 0 {
			continue // the kernel does not limit root
		}
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(self, callArg, "short", strconv.Itoa(resource), dir).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "<nil>" {
			t.Errorf("short of %s: %s, %v", name, out, err)
		}
	}
}

// TestAServerThatDoesNotAccept holds up neither commands nor the keeper.
func TestAServerThatDoesNotAccept(t *testing.T) {
	t.Parallel()
	for _, l := range bothLayers {
		p := policy(t, l)
		caller := withCaller(t, &p)
		k := mustStart(t, p)
		out, _ := sh(t, k, "cd "+p.Write[0]+"; setsid "+caller+"deaf port >/dev/null 2>&1 & cd "+p.Write[0]+"; while ! [ -s port ]; do sleep 0.01; done; cat port")
		port, err := strconv.Atoi(out)
		if err != nil {
			t.Fatal(err)
		}
		var dials sync.WaitGroup
		for range 100 {
			dials.Go(func() {
				if conn, err := k.Dial(port); err == nil {
					t.Cleanup(func() { conn.Close() })
				}
			})
		}
		begin := time.Now()
		for range 3 {
			if out, code := sh(t, k, "echo works"); out != "works" || code != 0 {
				t.Errorf("layer %s: a command printed %q and ended with %d", l, out, code)
			}
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("layer %s: commands took %s", l, took)
		}
		dials.Wait()
		if out, code := sh(t, k, "echo works"); out != "works" || code != 0 {
			t.Errorf("layer %s: after that a command printed %q and ended with %d", l, out, code)
		}
	}
}

// TestAttributesOfFilesAreOutOfReach in layer B, where the names of all files are in sight.
func TestAttributesOfFilesAreOutOfReach(t *testing.T) {
	t.Parallel()
	p := policy(t, sandbox.B)
	caller := withCaller(t, &p)
	k := mustStart(t, p)
	for _, line := range []string{"attribute " + canaryOf(p), "attribute-read " + canaryOf(p), "attribute-open " + p.Read[2] + "/file"} {
		if out, _ := sh(t, k, caller+line); out != "operation not supported" {
			t.Errorf("%s: %q", line, out)
		}
	}
	if n, err := unix.Getxattr(canaryOf(p), "user.test", nil); err == nil {
		t.Errorf("an attribute of %d bytes was set", n)
	}
	if out, code := sh(t, k, "cd "+p.Write[0]+" && echo x > f && ls -la f && cp -a f g && mv g h && tar cf - f h | tar tf - && install -m 755 f i"); code != 0 {
		t.Errorf("everyday work: %s", out)
	}
}

// TestPortsOfTheSystemStayTheSystems, also where the owner is root.
func TestPortsOfTheSystemStayTheSystems(t *testing.T) {
	t.Parallel()
	p := policy(t, sandbox.B)
	caller := withCaller(t, &p)
	k := mustStart(t, p)
	for line, want := range map[string]string{"bind 1": "permission denied", "bind 443": "permission denied", "bind 0": "<nil>"} {
		if out, _ := sh(t, k, caller+line); out != want {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
}

// TestTheKernelWakesNothingThatIsFrozen: what would be woken makes the freeze an error.
func TestTheKernelWakesNothingThatIsFrozen(t *testing.T) {
	t.Parallel()
	for _, c := range endings {
		p := policy(t, c.layer)
		caller := withCaller(t, &p)
		k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p, ABI: c.abi})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		for line, want := range map[string]string{
			"setsig 18": "operation not permitted", "setsig 10": "<nil>", "pdeathsig 18": "operation not permitted", "pdeathsig 9": "<nil>",
			"clone 18": "operation not permitted", "clone 17": "<nil>",
		} {
			if out, _ := sh(t, k, caller+line); out != want {
				t.Errorf("layer %s: %s: %q, want %q", c.layer, line, out, want)
			}
		}
		dir := p.Write[0]
		sh(t, k, "cd "+dir+"; setsid "+caller+"timer woken >/dev/null 2>&1 & cd "+dir+"; while ! [ -s woken ]; do sleep 0.01; done")
		if thaw, err := k.Freeze(); err == nil {
			if grows(dir, "woken") {
				t.Errorf("layer %s, ABI %d: it runs while it is frozen", c.layer, c.abi)
			}
			thaw()
		}
		if !goesOn(dir, "woken") {
			t.Errorf("layer %s, ABI %d: it does not go on", c.layer, c.abi)
		}
	}
}

// TestWhatShouldEndStaysFrozen until it is let go.
func TestWhatShouldEndStaysFrozen(t *testing.T) {
	t.Parallel()
	for _, l := range bothLayers {
		p := policy(t, l)
		k := mustStart(t, p)
		c, err := k.Launch(proc.Spec{
			Path: "/bin/sh", Args: []string{"-c", "trap : TERM; while :; do echo x >> runs; sleep 0.01; done"}, Dir: p.Write[0],
			Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{nil, nil, nil},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !goesOn(p.Write[0], "runs") {
			t.Fatal("it does not run")
		}
		thaw, err := k.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		c.Signal(false)
		if grows(p.Write[0], "runs") {
			t.Errorf("layer %s: it runs while it is frozen", l)
		}
		thaw()
		c.Signal(true)
		c.Wait()
	}
}
