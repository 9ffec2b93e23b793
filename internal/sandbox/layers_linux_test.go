//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/landlock"
)

var bothLayers = []sandbox.Layer{sandbox.A, sandbox.B}

// refusal is a line that must do nothing inside.
type refusal struct {
	from sandbox.Layer // the weakest layer that refuses it
	line string
}

func TestLayersHold(t *testing.T) {
	t.Parallel()
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	port := host.Addr().(*net.TCPAddr).Port
	for _, l := range bothLayers {
		p := policy(t, l)
		k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p, Target: sandbox.Target{Canary: canaryOf(p), Port: port}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		if k.Layer() != l {
			t.Errorf("got layer %s, want %s", k.Layer(), l)
		}
		for _, c := range []refusal{
			{sandbox.B, "cat " + canaryOf(p)},
			{sandbox.B, "echo x >> " + canaryOf(p)},
			{sandbox.B, "rm " + canaryOf(p)},
			{sandbox.B, "echo x > " + p.Read[2] + "/new"},
			{sandbox.B, "echo x >> " + p.Read[2] + "/file"},
			{sandbox.B, "cat " + p.Home + "/file"},
			{sandbox.B, "ls /root/.ssh 2>&1 | grep -q . && ls /root"},
			{sandbox.B, fmt.Sprintf("cat /proc/%d/environ", os.Getpid())},
			{sandbox.B, fmt.Sprintf("cat /proc/%d/task/*/environ", os.Getpid())},
			{sandbox.B, fmt.Sprintf("head -c 1 /proc/%d/mem", os.Getpid())},
			{sandbox.B, fmt.Sprintf("readlink /proc/%d/fd/0", os.Getpid())},
			{sandbox.B, fmt.Sprintf("cat /proc/%d/root%s", os.Getpid(), canaryOf(p))},
			{sandbox.B, "cat /proc/$PPID/environ"},
			{sandbox.B, fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d'", port)},
			{sandbox.B, "bash -c 'exec 3<>/dev/udp/192.0.2.1/9 && echo x >&3'"},
			{sandbox.B, "unshare -U true"},
			{sandbox.B, "unshare -m true"},
			{sandbox.B, "mount -t tmpfs none /mnt"},
			{sandbox.A, fmt.Sprintf("kill -0 %d", os.Getpid())},
			{sandbox.A, "kill -STOP $PPID; grep -q '^State:.T' /proc/$PPID/status"},
			{sandbox.A, "ls " + filepath.Dir(canaryOf(p))},
			{sandbox.A, "hostname changed"},
		} {
			if l < c.from {
				continue
			}
			if out, code := sh(t, k, c.line); code == 0 {
				t.Errorf("layer %s: %s succeeded: %s", l, c.line, out)
			}
		}
		for _, line := range []string{
			"cat " + p.Read[2] + "/file", "cd " + p.Write[0] + " && echo x > f && mv f g && mkdir d && mv g d/ && rm -r d", "ls /usr/bin/env && cat /etc/passwd", "echo x > /dev/null",
			"head -c 8 /dev/urandom", "sleep 1 & kill $!",
		} {
			if out, code := sh(t, k, line); code != 0 {
				t.Errorf("layer %s: %s failed: %s", l, line, out)
			}
		}
		status, _ := sh(t, k, "cat /proc/self/status")
		for _, field := range []string{"CapEff:\t0000000000000000", "CapBnd:\t", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(status, field) {
				t.Errorf("layer %s: %q is missing in the status of a program:\n%s", l, field, status)
			}
		}
		if os.Getuid() == 0 && !strings.Contains(status, "CapBnd:\t0000000000000000") {
			t.Errorf("layer %s: root can gain capabilities", l)
		}
	}
}

// TestTheProxyIsNotTakenForTheHost: in its own network the kernel may choose the port that is
// attacked on the host.
func TestTheProxyIsNotTakenForTheHost(t *testing.T) {
	t.Parallel()
	first, err := sandbox.Listen()
	if err != nil {
		t.Fatal(err)
	}
	next, attacked := first, first.Addr().(*net.TCPAddr).Port
	l, err := sandbox.ListenBut(attacked, func() (l net.Listener, err error) {
		if l, next = next, nil; l == nil {
			l, err = sandbox.Listen()
		}
		return l, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().(*net.TCPAddr).Port == attacked {
		t.Error("the proxy answers where the host is attacked")
	}
	if _, err := first.Accept(); err == nil {
		t.Error("the first socket is still open")
	}
}

// TestAWeakWallIsFound gives the keeper a policy that names what it must not reach: it
// finds out by itself, and no keeper comes of it.
func TestAWeakWallIsFound(t *testing.T) {
	t.Parallel()
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	for _, l := range bothLayers {
		for _, c := range []struct {
			what   string
			change func(*sandbox.Policy, string)
			want   string
		}{
			{"read", func(p *sandbox.Policy, outside string) { p.Read = append(p.Read, outside) }, "a file outside was read"},
			{"write", func(p *sandbox.Policy, outside string) { p.Write = append(p.Write, outside) }, "a file outside was read"},
		} {
			p := policy(t, l)
			c.change(&p, filepath.Dir(canaryOf(p)))
			k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p, Target: sandbox.Target{Canary: canaryOf(p), Port: host.Addr().(*net.TCPAddr).Port}})
			if err == nil {
				k.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("layer %s, %s: got %v, want %q", l, c.what, err, c.want)
			}
		}
	}
}

// TestOlderKernels builds the walls as if the kernel had an older Landlock.
func TestOlderKernels(t *testing.T) {
	t.Parallel()
	kernel, _ := landlock.ABI()
	for _, l := range bothLayers {
		for _, abi := range []int{1, 2, 3, 5, kernel} {
			p := policy(t, l)
			caller := withCaller(t, &p)
			k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: p, Target: sandbox.Target{Canary: canaryOf(p)}, ABI: abi})
			if err != nil {
				t.Errorf("layer %s, ABI %d: %v", l, abi, err)
				continue
			}
			t.Cleanup(func() { k.Close() })
			file := p.Read[2] + "/file"
			for _, line := range []string{caller + "truncate " + file, caller + "open-truncate " + file, "truncate -s 0 " + file, ": > " + file} {
				sh(t, k, line)
				if info, err := os.Stat(file); err != nil || info.Size() == 0 {
					t.Errorf("layer %s, ABI %d: %s cut a file that may only be read", l, abi, line)
				}
			}
			_, code := sh(t, k, "cd "+p.Write[0]+" && echo x > f && mkdir d && "+caller+"link f d/f | grep -q nil")
			if moved := code == 0; moved != (abi >= 2) {
				t.Errorf("layer %s, ABI %d: linking to another folder: %t", l, abi, moved)
			}
			lacks := strings.Join(k.Lacks(), "\n")
			for name, since := range map[string]int{"moving files": 2, "truncating": 3, "ioctl": 5, "signals": 6} {
				if strings.Contains(lacks, name) != (abi < since) {
					t.Errorf("layer %s, ABI %d lacks %q: %q", l, abi, name, lacks)
				}
			}
		}
	}
}

// TestProgramsGetOnlyTheirDescriptors looks for files of the keeper in what it starts.
func TestProgramsGetOnlyTheirDescriptors(t *testing.T) {
	t.Parallel()
	inherited, err := unix.Dup(1) // stays open in programs that are started, as one of the user's shell
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(inherited) })
	for _, l := range bothLayers {
		k := mustStart(t, policy(t, l))
		if out, _ := sh(t, k, "ls /proc/self/fd"); out != "0\n1\n2\n3" {
			t.Errorf("layer %s: a program has the descriptors %q", l, out)
		}
	}
}
