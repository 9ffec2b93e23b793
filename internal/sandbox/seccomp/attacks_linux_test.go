//go:build amd64 || arm64

package seccomp_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/landlock"
	"hermes/internal/sandbox/seccomp"
)

type probeFunc func(args map[string]string) map[string]string

func probes() map[string]probeFunc {
	return map[string]probeFunc{
		"sockets":    func(map[string]string) map[string]string { return words(socketAttacks()) },
		"calls":      func(map[string]string) map[string]string { return words(callAttacks()) },
		"parent":     func(args map[string]string) map[string]string { return words(parentAttacks(args)) },
		"truncate":   func(args map[string]string) map[string]string { return words(truncations(args["file"])) },
		"namespaces": func(map[string]string) map[string]string { return words(namespaces()) },
		"connect":    func(args map[string]string) map[string]string { return words(connectAttacks(args)) },
		"race":       raceAddress,
		"swap":       swapDescriptors,
		"stuck":      stuckConnects,
		"wait":       waitForDeath,
		"flood":      flood,
		"latency":    latency,
		"http":       httpInside,
		"unix":       unixSockets,
		"threads":    askThreads,
	}
}

func words(errs map[string]error) map[string]string {
	all := make(map[string]string, len(errs))
	for name, err := range errs {
		all[name] = word(err)
	}
	return all
}

// call makes a raw call, so that the high bits of int arguments can be set.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

const high = 1 << 32 // a bit that the kernel ignores in an int

func socketAttacks() map[string]error {
	socket := func(domain, kind, protocol uintptr) error {
		return call(unix.SYS_SOCKET, domain, kind, protocol)
	}
	var pair [2]int32
	socketpair := func(domain, kind uintptr) error {
		return call(unix.SYS_SOCKETPAIR, domain, kind, 0, uintptr(unsafe.Pointer(&pair)))
	}
	return map[string]error{
		"tcp":                    socket(unix.AF_INET, unix.SOCK_STREAM, 0),
		"tcp by name":            socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 6),
		"tcp with high bits":     socket(unix.AF_INET|high, unix.SOCK_STREAM|high, high),
		"mptcp":                  socket(unix.AF_INET, unix.SOCK_STREAM, 262),
		"mptcp with high bits":   socket(unix.AF_INET|high, unix.SOCK_STREAM|high, 262|high),
		"sctp":                   socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP),
		"udp":                    socket(unix.AF_INET, unix.SOCK_DGRAM, 0),
		"udp with high bits":     socket(unix.AF_INET6|high, unix.SOCK_DGRAM|high, high),
		"ping":                   socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP),
		"raw":                    socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW),
		"packet":                 socket(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"packet in disguise":     socket(unix.AF_INET, unix.SOCK_PACKET, 0),
		"vsock":                  socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"bluetooth":              socket(unix.AF_BLUETOOTH, unix.SOCK_STREAM, 0),
		"crypto":                 socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"smc":                    socket(unix.AF_SMC, unix.SOCK_STREAM, 0),
		"unix":                   socket(unix.AF_UNIX, unix.SOCK_STREAM, 0),
		"unix with high bits":    socket(unix.AF_UNIX|high, unix.SOCK_STREAM, 0),
		"unix datagram":          socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0),
		"routing":                socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE),
		"audit":                  socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		"audit with high bits":   socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT|high),
		"pair":                   socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC),
		"datagram pair":          socketpair(unix.AF_UNIX, unix.SOCK_DGRAM),
		"datagram pair and high": socketpair(unix.AF_UNIX|high, unix.SOCK_DGRAM|high),
		"packet pair":            socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET),
		"tipc pair":              socketpair(unix.AF_TIPC, unix.SOCK_STREAM),
	}
}

func TestSocketsOfLayerB(t *testing.T) {
	want := map[string]string{
		"tcp": "", "tcp by name": "", "tcp with high bits": "",
		"mptcp": "EPROTONOSUPPORT", "mptcp with high bits": "EPROTONOSUPPORT", "sctp": "EPROTONOSUPPORT",
		"udp": "EPERM", "udp with high bits": "EPERM", "ping": "EPERM", "raw": "EPERM",
		"packet": "EAFNOSUPPORT", "packet in disguise": "EPERM", "vsock": "EAFNOSUPPORT", "bluetooth": "EAFNOSUPPORT",
		"crypto": "EAFNOSUPPORT", "smc": "EAFNOSUPPORT",
		"unix": "EPERM", "unix with high bits": "EPERM", "unix datagram": "EPERM",
		"routing": "", "audit": "EPROTONOSUPPORT", "audit with high bits": "EPROTONOSUPPORT",
		"pair": "", "datagram pair": "EPERM", "datagram pair and high": "EPERM", "packet pair": "",
		"tipc pair": "EAFNOSUPPORT",
	}
	got := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Probe: "sockets"}, &seccomp.Supervisor{}).answers()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}

	want["tcp"], want["tcp by name"], want["tcp with high bits"] = "EPERM", "EPERM", "EPERM"
	want["mptcp"], want["mptcp with high bits"], want["sctp"] = "EPERM", "EPERM", "EPERM"
	got = mustStart(t, walls{Filter: seccomp.Filter{NetOff: true, Notify: true}, Probe: "sockets"}, nil).answers()
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("net off: %s", diff)
	}
}

func TestSocketsOfLayerA(t *testing.T) {
	got := mustStart(t, walls{Filter: seccomp.Filter{Unix: true, Datagram: true}, Probe: "sockets"}, nil).answers()
	for name, want := range map[string]string{
		"unix": "", "unix datagram": "", "datagram pair": "", "packet pair": "", "udp": "", "tcp": "",
		"mptcp": "EPROTONOSUPPORT", "ping": "EPROTONOSUPPORT", "raw": "EPERM", "vsock": "EAFNOSUPPORT", "tipc pair": "EAFNOSUPPORT",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

func callAttacks() map[string]error {
	var null uintptr
	return map[string]error{
		"ptrace":              call(unix.SYS_PTRACE, unix.PTRACE_TRACEME),
		"process_vm_readv":    call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid())),
		"process_vm_writev":   call(unix.SYS_PROCESS_VM_WRITEV, uintptr(os.Getpid())),
		"process_madvise":     call(unix.SYS_PROCESS_MADVISE),
		"pidfd_getfd":         call(unix.SYS_PIDFD_GETFD),
		"io_uring":            call(unix.SYS_IO_URING_SETUP, 1),
		"keyctl":              call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID),
		"add_key":             call(unix.SYS_ADD_KEY),
		"bpf":                 call(unix.SYS_BPF),
		"perf":                call(unix.SYS_PERF_EVENT_OPEN),
		"userfaultfd":         call(unix.SYS_USERFAULTFD),
		"mount":               call(unix.SYS_MOUNT),
		"chroot":              call(unix.SYS_CHROOT),
		"open_tree":           call(unix.SYS_OPEN_TREE),
		"fsopen":              call(unix.SYS_FSOPEN),
		"mount_setattr":       call(unix.SYS_MOUNT_SETATTR),
		"setns":               call(unix.SYS_SETNS),
		"unshare user":        call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"unshare high bits":   call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER|high),
		"unshare time":        call(unix.SYS_UNSHARE, unix.CLONE_NEWTIME),
		"unshare files":       call(unix.SYS_UNSHARE, unix.CLONE_FS),
		"clone user":          call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)),
		"clone net high bits": call(unix.SYS_CLONE, high|unix.CLONE_NEWNET|uintptr(unix.SIGCHLD)),
		"clone3":              call(unix.SYS_CLONE3),
		"reboot":              call(unix.SYS_REBOOT),
		"kexec":               call(unix.SYS_KEXEC_LOAD),
		"module":              call(unix.SYS_INIT_MODULE),
		"swapon":              call(unix.SYS_SWAPON),
		"acct":                call(unix.SYS_ACCT),
		"quotactl":            call(unix.SYS_QUOTACTL),
		"syslog":              call(unix.SYS_SYSLOG),
		"clock":               call(unix.SYS_CLOCK_SETTIME),
		"adjtimex":            call(unix.SYS_ADJTIMEX, uintptr(unsafe.Pointer(&null))),
		"handle":              call(unix.SYS_OPEN_BY_HANDLE_AT),
		"vhangup":             call(unix.SYS_VHANGUP),
		"fanotify":            call(unix.SYS_FANOTIFY_INIT),
		"personality asked":   call(unix.SYS_PERSONALITY, 0xffffffff),
		"personality":         call(unix.SYS_PERSONALITY, 0x0400000),
		"personality high":    call(unix.SYS_PERSONALITY, 0x0400000|high),
		"listener":            call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER),
		"listener high":       call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|high),
		"own filter":          call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0),
		"typing":              call(unix.SYS_IOCTL, 0, unix.TIOCSTI),
		"typing high":         call(unix.SYS_IOCTL, 0, unix.TIOCSTI|high),
		"pasting":             call(unix.SYS_IOCTL, 0, unix.TIOCLINUX),
		"pasting high":        call(unix.SYS_IOCTL, 0, unix.TIOCLINUX|high),
		"fast open":           call(unix.SYS_SENDTO, 99, 0, 0, unix.MSG_FASTOPEN),
		"fast open high":      call(unix.SYS_SENDTO, 99, 0, 0, unix.MSG_FASTOPEN|high),
		"fast open message":   call(unix.SYS_SENDMSG, 99, 0, unix.MSG_FASTOPEN),
		"fast open messages":  call(unix.SYS_SENDMMSG, 99, 0, 1, unix.MSG_FASTOPEN),
		"send":                call(unix.SYS_SENDTO, 99),
		"unknown":             call(600),
		"none":                call(^uintptr(0)),
		"no new privileges":   noNewPrivileges(),
	}
}

// threads are what startThreads started.
type threads struct{ ask, answers chan error }

// startThreads starts threads that each make a forbidden call when they are asked.
func startThreads() {
	for range 20 {
		go func() {
			runtime.LockOSThread()
			<-started.ask
			started.answers <- call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
		}()
	}
}

// started is set once; only one probe uses it.
var started = threads{make(chan error), make(chan error)}

func askThreads(map[string]string) map[string]string {
	got := make(map[string]string)
	for i := range 20 {
		started.ask <- nil
		got[fmt.Sprint(i)] = word(<-started.answers)
	}
	return got
}

func TestFilterIsOnAllThreads(t *testing.T) {
	got := mustStart(t, walls{Probe: "threads", Stay: true}, nil).answers()
	for thread, answer := range got {
		if answer != "EPERM" {
			t.Errorf("thread %s: %q", thread, answer)
		}
	}
	if len(got) != 20 {
		t.Errorf("%d threads answered", len(got))
	}
}

func noNewPrivileges() error {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err == nil && set != 1 {
		return fmt.Errorf("not set")
	}
	return err
}

func TestCallsThatAreRefused(t *testing.T) {
	want := map[string]string{
		"unshare files": "", "personality asked": "", "no new privileges": "",
		"own filter": "EFAULT", "send": "EBADF", // allowed, and wrong
		"clone3": "ENOSYS", "unknown": "ENOSYS", "none": "ENOSYS",
		"fast open": "ENOTSUP", "fast open high": "ENOTSUP",
		"fast open message": "ENOTSUP", "fast open messages": "ENOTSUP",
	}
	got := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Probe: "calls"}, &seccomp.Supervisor{}).answers()
	for name := range got {
		if _, ok := want[name]; !ok {
			want[name] = "EPERM"
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

// parentAttacks try to reach the process outside, through each of its threads.
func parentAttacks(args map[string]string) map[string]error {
	pid, _ := strconv.Atoi(args["pid"])
	got := map[string]error{
		"canary": readable(args["canary"]),
		"signal": unix.Kill(pid, 0),
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		folder := fmt.Sprintf("/proc/%d/task/%s", pid, thread.Name())
		f, err := os.OpenFile(folder+"/mem", os.O_RDWR, 0)
		got["memory"] = firstNil(got["memory"], err)
		if err == nil {
			f.Close()
		}
		got["environment"] = firstNil(got["environment"], readable(folder+"/environ"))
		got["maps"] = firstNil(got["maps"], readable(folder+"/maps"))
		got["descriptors"] = firstNil(got["descriptors"], readable(folder+"/fd/0"))
		got["root"] = firstNil(got["root"], readable(folder+"/root/etc/passwd"))
		number, _ := strconv.Atoi(thread.Name())
		got["thread signal"] = firstNil(got["thread signal"], unix.Tgkill(pid, number, 0))
	}
	if len(threads) == 0 {
		got["memory"] = fmt.Errorf("no thread was seen")
	}
	return got
}

// firstNil keeps that one attempt succeeded.
func firstNil(earlier, err error) error {
	if err == nil {
		return fmt.Errorf("reached")
	}
	if earlier != nil && earlier.Error() == "reached" {
		return earlier
	}
	return err
}

func readable(name string) error {
	content, err := os.ReadFile(name)
	if err == nil && len(content) == 0 {
		return fmt.Errorf("empty")
	}
	return err
}

func TestParentIsOutOfReach(t *testing.T) {
	abi, err := landlock.ABI()
	if err != nil {
		t.Skip(err)
	}
	canary := filepath.Join(mustFolder(t), "shadow")
	must(t, os.WriteFile(canary, []byte("canary"), 0o644))
	args := map[string]string{"pid": fmt.Sprint(os.Getpid()), "canary": canary}
	got := mustStart(t, walls{
		Filter: seccomp.Filter{Notify: true}, Rules: mustRules(t, mustFolder(t)), Probe: "parent", Args: args,
	}, &seccomp.Supervisor{}).answers()
	want := map[string]string{
		"canary": "EACCES", "memory": "EACCES", "environment": "EACCES", "maps": "EACCES",
		"descriptors": "EACCES", "root": "EACCES", "signal": "EPERM", "thread signal": "EPERM",
	}
	if abi < 6 {
		want["signal"], want["thread signal"] = "", "reached"
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func truncations(file string) map[string]error {
	open := func(mode int) error {
		fd, err := unix.Open(file, mode, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	_, how := unix.Openat2(unix.AT_FDCWD, file, &unix.OpenHow{Flags: unix.O_TRUNC})
	return map[string]error{
		"truncate": unix.Truncate(file, 0),
		"reading":  open(unix.O_RDONLY | unix.O_TRUNC),
		"mode 3":   open(unix.O_ACCMODE | unix.O_TRUNC),
		"openat2":  how,
		"read":     open(unix.O_RDONLY),
	}
}

func TestTruncationBelowABI3(t *testing.T) {
	folder := mustFolder(t)
	file := filepath.Join(folder, "kept")
	must(t, os.WriteFile(file, []byte("content"), 0o666))
	rules := mustRules(t, mustFolder(t))
	rules.Read = append(rules.Read, folder)
	rules.ABI = 2
	got := mustStart(t, walls{
		Filter: seccomp.Filter{NoTruncate: true}, Rules: rules, Probe: "truncate", Args: map[string]string{"file": file},
	}, nil).answers()
	want := map[string]string{"truncate": "EACCES", "reading": "EACCES", "mode 3": "EACCES", "openat2": "ENOSYS", "read": ""}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	if content, _ := os.ReadFile(file); string(content) != "content" {
		t.Errorf("the file holds %q", content)
	}
}

// TestForeignArchitecturesAreKilled runs the calls of x32 and i386, whose numbers
// mean something else.
func TestForeignArchitecturesAreKilled(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if !strings.HasPrefix(unameMachine(), "x86_64") {
		t.Skip("not amd64")
	}
	for name, source := range map[string]string{
		"i386": `int main() { int r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); return 0; }`,
		"x32":  `#include <unistd.h>` + "\n" + `int main() { syscall(0x40000000 + 39); return 0; }`,
		"none": `int main() { return 0; }`,
	} {
		t.Run(name, func(t *testing.T) {
			folder := mustFolder(t)
			program := filepath.Join(folder, "program")
			must(t, os.WriteFile(program+".c", []byte(source), 0o666))
			if out, err := exec.Command(gcc, "-o", program, program+".c").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p := mustStart(t, walls{Program: []string{program}}, nil)
			got := fmt.Sprint(p.wait())
			want := "signal: bad system call (core dumped)"
			if name == "none" {
				want = "<nil>"
			}
			if strings.TrimSuffix(got, " (core dumped)") != strings.TrimSuffix(want, " (core dumped)") {
				t.Errorf("got %s: %s", got, p.complain.String())
			}
		})
	}
}

func unameMachine() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}

func namespaces() map[string]error {
	cut := func(name string) error { // a new process, because namespaces cannot be left again
		command := exec.Command("/usr/bin/unshare", strings.Fields(name)...)
		out, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s", out)
		}
		return nil
	}
	routing, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	if err == nil {
		unix.Close(routing)
	}
	_, landlocked := landlock.ABI()
	return map[string]error{
		"user namespace": cut("--user /bin/true"),
		"routing":        err,
		"mount":          unix.Mount("none", "/", "", 0, ""),
		"landlock":       landlocked,
		"interfaces":     interfaces(),
	}
}

func interfaces() error {
	_, err := net.Interfaces()
	return err
}
