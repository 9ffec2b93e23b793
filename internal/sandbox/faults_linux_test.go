//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/proc"
	"hermes/internal/race"
	"hermes/internal/sandbox"
)

// ownedLine starts processes that escape a group, and stops the keeper where it may.
const ownedLine = `(setsid sh -c 'while :; do echo x >> setsid; sleep 0.02; done' >/dev/null 2>&1 &)
(sh -c '(while :; do echo x >> double; sleep 0.02; done) &' >/dev/null 2>&1 &)
while ! [ -s setsid ] || ! [ -s double ]; do sleep 0.01; done
kill -STOP $PPID
while :; do echo x >> main; sleep 0.02; done`

// TestNothingIsLeftWhenTheOwnerIsKilled also stops the keeper from inside first, so that it
// cannot notice.
func TestNothingIsLeftWhenTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	for _, l := range bothLayers {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(self, callArg, "owner", l.String(), dir, ownedLine)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		c.WaitDelay = time.Second
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if !goesOn(dir, "main") {
			_ = c.Process.Kill()
			_ = c.Wait()
			t.Errorf("layer %s: the commands do not run: %s", l, out.String())
			continue
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		for _, name := range []string{"main", "setsid", "double"} {
			if !eventually(func() bool { return !grows(dir, name) }) {
				t.Errorf("layer %s: the process that writes %s still runs", l, name)
			}
		}
	}
}

// eventually waits some seconds for a condition.
func eventually(holds func() bool) bool {
	for range 100 {
		if holds() {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// grows reports whether a process writes to a file.
func grows(dir, name string) bool {
	before := sizeOf(dir, name)
	time.Sleep(200 * time.Millisecond)
	return sizeOf(dir, name) != before
}

// goesOn is grows on a machine that may be busy with other things.
func goesOn(dir, name string) bool { return eventually(func() bool { return grows(dir, name) }) }

// sizeOf is 0 for a file that is not there.
func sizeOf(dir, name string) int64 {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestALaunchFailsWhenItsKeeperHasEnded, and not while it is about to: who starts another one at the
// next command would find it still there.
func TestALaunchFailsWhenItsKeeperHasEnded(t *testing.T) {
	t.Parallel()
	for range 20 {
		k := mustStart(t, policy(t, sandbox.B))
		sh(t, k, "sleep 100 >/dev/null 2>&1 & sleep 100 >/dev/null 2>&1 &")
		if err := sandbox.KillKeeper(k); err != nil {
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = proc.Run(t.Context(), proc.Command{Path: "/bin/true", Dir: "/", Launcher: k})
		}
		select {
		case <-k.Gone():
			if !errors.Is(err, sandbox.ErrGone) {
				t.Errorf("got %v", err)
			}
		default:
			t.Fatalf("the keeper is not gone after %v", err)
		}
	}
}

// TestAKeeperThatCannotBeToldAnythingIsEnded, so that nothing waits for it, and a file that was closed
// meanwhile is not its fault.
func TestAKeeperThatCannotBeToldAnythingIsEnded(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(k *sandbox.Keeper) error{
		"launch": func(k *sandbox.Keeper) error {
			_, err := k.Launch(proc.Spec{Path: "/bin/true", Args: []string{"true"}, Dir: "/"})
			return err
		},
		"freeze": func(k *sandbox.Keeper) error {
			_, err := k.Freeze()
			return err
		},
	} {
		k := mustStart(t, policy(t, sandbox.B))
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := k.Launch(proc.Spec{Path: "/bin/true", Args: []string{"true"}, Dir: "/", Files: []*os.File{f}}); err == nil || errors.Is(err, sandbox.ErrGone) {
			t.Errorf("%s: a closed file: %v", name, err)
		}
		if out, code := sh(t, k, "echo lives"); out != "lives" || code != 0 {
			t.Errorf("%s: after a closed file: %q, %d", name, out, code)
		}
		if err := sandbox.StopSending(k); err != nil {
			t.Fatal(err)
		}
		if err := ask(k); !errors.Is(err, sandbox.ErrGone) {
			t.Errorf("%s: got %v", name, err)
		}
		select {
		case <-k.Gone():
		default:
			t.Errorf("%s: the keeper is not gone", name)
		}
	}
}

// TestAStoppedKeeperIsWoken stops the keeper from inside.
func TestAStoppedKeeperIsWoken(t *testing.T) {
	t.Parallel()
	k := mustStart(t, policy(t, sandbox.B))
	p, err := proc.Start(t.Context(), proc.Command{Path: "/bin/sh", Args: []string{"-c", "kill -STOP $PPID; sleep 1000"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Launcher: k})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	time.Sleep(100 * time.Millisecond)
	if out, code := sh(t, k, "echo works"); out != "works" || code != 0 {
		t.Errorf("the next command printed %q and ended with %d", out, code)
	}
	_ = p.Kill()
	if _, err := p.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAKeeperThatIsStoppedAgainIsEnded: what runs inside stops it as often as it is woken.
func TestAKeeperThatIsStoppedAgainIsEnded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the keeper's answer")
	}
	dir := policy(t, sandbox.B)
	k := mustStart(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := proc.Run(ctx, proc.Command{
		Path: "/bin/sh", Args: []string{"-c", "echo $$ > pid; trap '' TERM; (setsid sh -c 'echo $$ > pid2; while :; do kill -STOP " + "$KEEPER" + "; done' &); exec sleep 1000"},
		Dir: dir.Write[0], Env: []string{"PATH=/usr/bin:/bin", "KEEPER=" + strconv.Itoa(sandbox.KeeperPID(k))}, Launcher: k, Grace: time.Millisecond,
	})
	if err == nil {
		t.Error("the command was not cut")
	}
	k.Close()
	if took := time.Since(begin); took > 40*time.Second {
		t.Errorf("with its end it took %s", took)
	}
	for _, name := range []string{"pid", "pid2"} {
		b, err := os.ReadFile(filepath.Join(dir.Write[0], name))
		if err != nil {
			t.Fatal(err)
		}
		if text := "/proc/" + strings.TrimSpace(string(b)) + "/cmdline"; !eventually(func() bool { b, _ := os.ReadFile(text); return len(b) == 0 }) {
			t.Errorf("process %s is left", text)
		}
	}
}

// TestManyCommandsAtOnce also checks large input and output.
func TestManyCommandsAtOnce(t *testing.T) {
	t.Parallel()
	for _, l := range bothLayers {
		k := mustStart(t, policy(t, l))
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if out, code := sh(t, k, fmt.Sprintf("echo %d; exit %d", i, i)); out != strconv.Itoa(i) || code != i {
					t.Errorf("layer %s: command %d printed %q and ended with %d", l, i, out, code)
				}
			})
		}
		all.Wait()
		long := strings.Repeat("x", 64<<10)
		if out, _ := sh(t, k, "printf %s "+long); out != long {
			t.Errorf("layer %s: a line of 64 KB arrived as %d bytes", l, len(out))
		}
		var large []string
		for i := range 20 { // the kernel takes 128 KB for each
			large = append(large, fmt.Sprintf("V%d=%s", i, strings.Repeat("y", 100_000)))
		}
		if out, _ := sh(t, k, "env | wc -c", large...); len(out) < 7 {
			t.Errorf("layer %s: an environment of 2 MB arrived as %s bytes", l, out)
		}
	}
}

// TestAnIdleKeeperIsSmall measures what only the keeper uses.
func TestAnIdleKeeperIsSmall(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector needs memory of its own")
	}
	for _, l := range bothLayers {
		k := mustStart(t, policy(t, l))
		sh(t, k, "true")
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", sandbox.KeeperPID(k)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			name, value, _ := strings.Cut(line, ":")
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			switch name {
			case "VmRSS":
				t.Logf("layer %s: %d KB resident", l, n)
			case "RssAnon":
				t.Logf("layer %s: %d KB of its own", l, n)
				if n > 8<<10 {
					t.Errorf("layer %s: an idle keeper uses %d KB of its own", l, n)
				}
			}
		}
	}
}
