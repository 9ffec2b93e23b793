package sandbox

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attack is something that must not succeed behind the walls of these layers.
type attack struct {
	what string
	from Layer // the weakest layer that promises it
	try  func(Target) (succeeded bool)
}

var attacks = []attack{
	{"a file outside was read", B, func(t Target) bool { return opens(t.Canary, unix.O_RDONLY) }},
	{"a file outside could be written", B, func(t Target) bool { return opens(t.Canary, unix.O_WRONLY|unix.O_APPEND) }},
	{"a file was made outside", B, makesFile},
	{"the environment of the owner was read", B, func(t Target) bool { return opens(ownerFile(t, "environ"), unix.O_RDONLY) }},
	{"the memory of the owner was opened", B, func(t Target) bool { return opens(ownerFile(t, "mem"), unix.O_RDWR) }},
	{"the owner's root folder was reached", B, func(t Target) bool { return opens(ownerFile(t, "root")+t.Canary, unix.O_RDONLY) }},
	{"a port of the host was reached", B, func(t Target) bool { return t.Port > 0 && reaches(t.Port) }},
	{"a datagram could be sent", B, sendsDatagram},
	{"a namespace was made", B, func(Target) bool { return unix.Unshare(unix.CLONE_NEWNS) == nil }},
	{"something was mounted", B, func(Target) bool { return unix.Mount("none", "/", "tmpfs", unix.MS_BIND, "") == nil }},
	{"another process could be traced", B, tracesOwner},
	{"the owner could be signalled", A, func(t Target) bool { return t.Owner != os.Getpid() && syscall.Kill(t.Owner, 0) == nil }},
}

// attackAll tries all attacks that a layer promises to hold, and returns the first that
// succeeded.
func attackAll(l Layer, t Target) error {
	if l == None {
		return nil
	}
	for _, a := range attacks {
		if l >= a.from && a.try(t) {
			return fmt.Errorf("the walls do not hold on this machine: %s", a.what)
		}
	}
	return nil
}

func ownerFile(t Target, name string) string { return "/proc/" + strconv.Itoa(t.Owner) + "/" + name }

func opens(path string, flags int) bool {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// makesFile tries beside the canary and in the root folder.
func makesFile(t Target) bool {
	name := t.Canary + "-" + strconv.Itoa(os.Getpid())
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	unix.Close(fd)
	_ = os.Remove(name)
	return true
}

func reaches(port int) bool {
	d := net.Dialer{Timeout: 200 * time.Millisecond}
	conn, err := d.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// sendsDatagram sends to an address that documentation reserves, so that nothing
// receives it.
func sendsDatagram(Target) bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Sendto(fd, nil, 0, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}}) == nil
}

func tracesOwner(t Target) bool {
	if unix.PtraceSeize(t.Owner) != nil {
		return false
	}
	_ = unix.PtraceDetach(t.Owner)
	return true
}
