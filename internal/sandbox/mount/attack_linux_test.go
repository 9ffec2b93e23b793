package mount_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/mount"
)

// attackVariable makes the test binary, started by a script inside, run one of
// attacks: what no program of the system does.
const attackVariable = "MOUNT_TEST_ATTACK"

var attacks = map[string]func(args []string) string{
	// exchange swaps two paths in one step.
	"exchange": func(args []string) string {
		return fmt.Sprint(unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], unix.RENAME_EXCHANGE))
	},
	"unmount": func(args []string) string {
		var all []error
		for _, path := range args {
			all = append(all, unix.Unmount(path, unix.MNT_DETACH))
		}
		return fmt.Sprint(all)
	},
	// writable takes the read-only attribute away.
	"writable": func(args []string) string {
		var all []error
		for _, path := range args {
			attr := &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			all = append(all, unix.MountSetattr(unix.AT_FDCWD, path, 0, attr), unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, attr))
		}
		return fmt.Sprint(all)
	},
	// shallow takes a copy of a mount without those below it, where nothing covers
	// the files, and prints and changes what is in it.
	"shallow": func(args []string) string {
		var all []string
		for _, path := range args {
			for _, flags := range []uint{0, unix.AT_RECURSIVE} {
				fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|flags)
				if err != nil {
					all = append(all, err.Error())
					continue
				}
				dir := fmt.Sprintf("/proc/self/fd/%d/", fd)
				for _, name := range []string{".env", "secrets/key", ".git/config", "config"} {
					text, err := os.ReadFile(dir + name)
					all = append(all, string(text), fmt.Sprint(err))
					_ = os.WriteFile(dir+name, []byte("x"), 0o600)
				}
				all = append(all, fmt.Sprint(unix.Renameat(fd, ".git", fd, "moved")))
			}
		}
		return strings.Join(all, " ")
	},
	// overwrite opens files for writing, by every way.
	"overwrite": func(args []string) string {
		var opened []string
		for _, path := range args {
			for _, flags := range []int{os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND} {
				if f, err := os.OpenFile(path, flags, 0); err == nil {
					opened = append(opened, path)
					f.Close()
				}
			}
			// To the mode that it has: if this test fails, the machine is as before.
			if info, err := os.Stat(path); err == nil && os.Chmod(path, info.Mode()) == nil {
				opened = append(opened, "chmod "+path)
			}
		}
		return strings.Join(opened, " ")
	},
	// enter tries to join the namespaces of other processes.
	"enter": func(args []string) string {
		var joined []string
		files, _ := filepath.Glob("/proc/[0-9]*/ns/*")
		for _, file := range files {
			f, err := os.Open(file)
			if err != nil {
				continue
			}
			if unix.Setns(int(f.Fd()), 0) == nil {
				joined = append(joined, file)
			}
			f.Close()
		}
		return strings.Join(joined, " ")
	},
	"dial": func(args []string) string {
		if c, err := net.DialTimeout(args[0], args[1], time.Second); err != nil {
			return err.Error()
		} else {
			c.Close()
			return "connected to " + args[1]
		}
	},
	// capabilities prints those that this process has or can get.
	"capabilities": func([]string) string {
		text, _ := os.ReadFile("/proc/self/status")
		var all []string
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "Cap") {
				all = append(all, strings.TrimSpace(line[7:]))
			}
		}
		return strings.Join(all, " ")
	},
	// search looks for names in every folder that can be read.
	"search": func(names []string) string {
		var found []string
		for _, root := range []string{"/", "/proc/1/root/", "/proc/1/cwd/"} {
			_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				switch path {
				case root + "proc", root + "sys", root + "usr", root + "etc":
					return fs.SkipDir // the host's own, without the names
				}
				for _, name := range names {
					if strings.Contains(path, name) {
						found = append(found, path)
					}
				}
				return nil
			})
		}
		return strings.Join(found, " ")
	},
}

const noCapabilities = "0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000"

func TestNothingHasOrGetsCapabilities(t *testing.T) {
	t.Parallel()
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{
		"go capabilities",
		"chroot / true || mount -t tmpfs none /tmp || hostname x || ip link set lo down",
	}})
	check(t, o, 0, noCapabilities)
	if o.Runs[1].Code == 0 {
		t.Errorf("something worked: %q", o.Runs[1].Out)
	}
	if o.Threads == 0 || o.Capable > 0 {
		t.Errorf("%d of %d threads kept capabilities", o.Capable, o.Threads)
	}
}

func TestTheOldRootIsGone(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "ws/f", "canary-7361/secret")
	files(t, folder(t), "canary-7361")
	o := build(t, job{
		Root: mount.Root{Read: system(t), Write: []string{dir + "/ws"}},
		Scripts: []string{
			"go search canary-7361",
			"cd /; cd ../../..; ls -d old_root root home lost+found .blank boot 2>/dev/null; ls /proc/1/root/.. | wc -l; ls / | wc -l",
			"go enter",
			"for f in /proc/1/fd/* /proc/self/fd/*; do ls -d $f/.. $f/../.. 2>/dev/null; done; ls -l /proc/1/fd | grep -c ' /$'",
			"awk '{print $5}' /proc/1/mountinfo | grep -c -e canary -e old_root",
		},
	})
	check(t, o, 0, "")
	lines := strings.Fields(o.Runs[1].Out)
	if len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("got %q", lines)
	}
	check(t, o, 2, "")
	check(t, o, 3, "0")
	check(t, o, 4, "0")
}

// The program of process 1 is a file of the old root, and belongs to the user.
func TestTheProgramItselfCannotBeOverwritten(t *testing.T) {
	t.Parallel()
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{"go overwrite /proc/1/exe /proc/self/exe"}})
	check(t, o, 0, "")
}

// Root inside is root of the host, to which these files belong.
func TestTheMachineCannotBeChanged(t *testing.T) {
	t.Parallel()
	var paths []string
	_ = filepath.WalkDir("/proc/sys", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(path, "/proc/sys/net/") {
			paths = append(paths, path)
		}
		return nil
	})
	for _, pattern := range []string{"/proc/sysrq-trigger", "/proc/irq/*/*", "/proc/mtrr", "/proc/bus/*/*", "/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*", "/sys/devices/system/cpu/*/online", "/sys/devices/system/memory/*", "/dev/null"} {
		found, _ := filepath.Glob(pattern)
		paths = append(paths, found...)
	}
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{
		"unset x; go overwrite " + strings.Join(paths, " "),
		"cat /proc/kcore /proc/kmsg /proc/kpageflags /proc/vmallocinfo 2>/dev/null | wc -c; ls /sys /sys/fs",
	}})
	if got := strings.Fields(strings.ReplaceAll(o.Runs[0].Out, "/dev/null", "")); len(got) > 0 {
		t.Errorf("could be opened for writing: %q", got[:min(len(got), 10)])
	}
	check(t, o, 1, "0\n/sys:\ndevices\nfs\n\n/sys/fs:\ncgroup")
}

func TestSocketsOfTheHostAreNotReached(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	listener, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	if err := os.Chmod(dir+"/s", 0o777); err != nil {
		t.Fatal(err)
	}
	abstract, err := net.Listen("unix", "@mount-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	attacksOn := fmt.Sprintf("go dial unix %s/s; go dial unix %s; go dial tcp %s", dir, abstract.Addr(), tcp.Addr())
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{attacksOn, "find /run /tmp -type s"}})
	if got := o.Runs[0].Out; strings.Contains(got, "connected") || strings.Count(got, "dial") != 3 {
		t.Errorf("got %q", got)
	}
	check(t, o, 1, "")
}

func TestProcessesAndTerminalsOfTheHostAreNotSeen(t *testing.T) {
	t.Parallel()
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	pid := sleeper.Process.Pid
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{
		"ls /proc | grep -c '^[0-9]'; ls -d /proc/" + strconv.Itoa(pid) + " 2>/dev/null; kill -9 " + strconv.Itoa(pid) + " 2>/dev/null; ls /dev/pts; ls /dev/tty[0-9]* /dev/mem /dev/vda /dev/kmsg 2>/dev/null",
	}})
	if got := strings.Fields(o.Runs[0].Out); len(got) != 2 || got[1] != "ptmx" {
		t.Errorf("got %q", got)
	}
	if err := sleeper.Process.Signal(unix.Signal(0)); err != nil {
		t.Error("a process of the host was killed")
	}
}

// While a root is built, a program of an earlier sandbox moves the folders and puts
// links in their place. Whatever happens, nothing outside is mounted or changed, and
// what Build says is protected is.
func TestRaceWithAHostileProgram(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "out/hooks/", "out/secret", "out/config")
	ws := dir + "/ws"
	files(t, ws, ".git/hooks/h", ".git/config", "lib/f", ".env")
	if err := os.Symlink(dir+"/out", ws+"/link"); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, ws+"/.git", unix.AT_FDCWD, ws+"/link", unix.RENAME_EXCHANGE)
			}
		}
	}()
	deadline := time.Now().Add(time.Second)
	clean := 0
	for n := 0; n < 200 && time.Now().Before(deadline); n++ {
		o := build(t, job{
			Root: mount.Root{Read: append(system(t), ws+"/.git/secret"), Write: []string{ws}, Protected: []string{ws + "/.git/hooks", ws + "/.git/config"}},
			Scripts: []string{
				"cat " + ws + "/.git/secret " + ws + "/link/secret 2>/dev/null; ls -A " + dir,
			},
		})
		if got := o.Runs[0].Out; strings.Contains(got, "real secret") || strings.Contains(got, "out") {
			t.Fatalf("got outside: %q", got)
		}
		if o.Report.Unprotected == nil && o.Report.Missing == nil {
			clean++
		}
	}
	close(stop)
	<-done
	t.Logf("%d times nothing was reported", clean)
	if text, err := os.ReadFile(dir + "/out/secret"); string(text) != "real secret\n" {
		t.Error(string(text), err)
	}
}
