//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// mustStart starts a keeper and closes it with the test.
func mustStart(t testing.TB, p sandbox.Policy) *sandbox.Keeper {
	t.Helper()
	k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// sh runs a line inside and returns its output and exit code.
func sh(t testing.TB, k *sandbox.Keeper, line string, env ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	s, err := proc.Run(t.Context(), proc.Command{
		Path: "/bin/sh", Args: []string{"-c", line}, Dir: "/", Env: append([]string{"PATH=/usr/bin:/bin"}, env...),
		Stdout: &out, Stderr: &out, Launcher: k,
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String()), s.Code
}

func TestCommandsRunBelowTheKeeper(t *testing.T) {
	t.Parallel()
	k := mustStart(t, sandbox.Policy{})
	for _, c := range []struct {
		line, out string
		code      int
	}{
		{"echo hello; echo there >&2", "hello\nthere", 0},
		{"exit 7", "", 7},
		{"kill -9 $$", "", 137},
		{"printf '\\377' | od -An -tx1", "ff", 0},
		{"cat", "", 0}, // no input
		{"echo $X", "", 0},
	} {
		if out, code := sh(t, k, c.line); out != c.out || code != c.code {
			t.Errorf("%s: got %q and %d, want %q and %d", c.line, out, code, c.out, c.code)
		}
	}
	if out, _ := sh(t, k, "echo $X", "X=\xff\n"); out != "\xff" {
		t.Errorf("a variable arrived as %q", out)
	}
}

func TestAProgramThatIsMissingIsReported(t *testing.T) {
	t.Parallel()
	k := mustStart(t, sandbox.Policy{})
	_, err := proc.Run(t.Context(), proc.Command{Path: "/no/such", Dir: "/", Launcher: k})
	if !os.IsNotExist(err) && !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsLeftWhenAKeeperIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := mustStart(t, sandbox.Policy{})
	sh(t, k, "cd "+dir+"; (setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 &) ; while ! [ -s pid ]; do sleep 0.01; done")
	b, err := os.ReadFile(dir + "/pid")
	if err != nil {
		t.Fatal(err)
	}
	k.Close()
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(b))); err == nil {
		t.Errorf("process %s still runs", b)
	}
}

func TestAKilledKeeperEndsItsCommands(t *testing.T) {
	stop := proc.AdoptOrphans() // as the program does
	t.Cleanup(stop)
	for _, p := range []sandbox.Policy{policy(t, sandbox.A), policy(t, sandbox.B)} {
		k := mustStart(t, p)
		dir := p.Write[0]
		p, err := proc.Start(context.Background(), proc.Command{
			Path: "/bin/sh", Args: []string{"-c", "(setsid sleep 1000 >/dev/null 2>&1 & echo $! > pid); read x; kill -9 $PPID; exec sleep 1000"},
			Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, OpenInput: true, Launcher: k,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		if err := sandbox.KillKeeper(k); err != nil { // in layer A nothing inside can
			t.Fatal(err)
		}
		s, err := p.Wait(t.Context())
		if err != nil || s.Code != 137 {
			t.Errorf("the command ended with %d, %v", s.Code, err)
		}
		if left := slices.DeleteFunc(proc.Descendants(os.Getpid()), isGuard); len(left) > 0 {
			t.Errorf("layer %s left the processes %v", k.Layer(), left)
		}
		if _, err := proc.Run(t.Context(), proc.Command{Path: "/bin/true", Dir: "/", Launcher: k}); err == nil {
			t.Error("a keeper that has ended ran a command")
		}
	}
}

// isGuard reports whether a process is the guard of this one.
func isGuard(pid int) bool {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return bytes.Contains(b, []byte("hermes-guard"))
}

func TestFrozenProcessesDoNotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := mustStart(t, sandbox.Policy{})
	p, err := proc.Start(context.Background(), proc.Command{
		Path: "/bin/sh", Args: []string{"-c", "(while :; do echo x >> n; sleep 0.005; done) & wait"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Launcher: k,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	size := func() int64 {
		info, err := os.Stat(dir + "/n")
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for size() < 4 {
		time.Sleep(time.Millisecond)
	}
	thaw, err := k.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	before := size()
	time.Sleep(50 * time.Millisecond)
	if after := size(); after != before {
		t.Errorf("the file grew from %d to %d bytes while the processes were frozen", before, after)
	}
	thaw()
	for size() == before {
		time.Sleep(time.Millisecond)
	}
}

func BenchmarkCommand(b *testing.B) {
	for _, c := range []struct {
		name   string
		keeper func() proc.Launcher
	}{
		{"fork", func() proc.Launcher { return nil }},
		{"keeper", func() proc.Launcher { return mustStart(b, sandbox.Policy{}) }},
		{"A", func() proc.Launcher { return mustStart(b, policy(b, sandbox.A)) }},
		{"B", func() proc.Launcher { return mustStart(b, policy(b, sandbox.B)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := c.keeper()
			for b.Loop() {
				var out bytes.Buffer
				if _, err := proc.Run(b.Context(), proc.Command{Path: "/bin/true", Dir: "/", Stdout: &out, Launcher: l}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		k, err := sandbox.Start(b.Context(), sandbox.Config{})
		if err != nil {
			b.Fatal(err)
		}
		k.Close()
	}
}
