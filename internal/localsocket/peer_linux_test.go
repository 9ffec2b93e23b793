package localsocket_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/internal/localsocket"
)

// TestOtherUsersAreRefused where a folder does not keep them out.
func TestOtherUsersAreRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	dir, err := os.MkdirTemp("/tmp", "localsocket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, p := range []string{dir, path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	fault := make(chan error, 1)
	go func() { // ends with its thread, which is never another one's again
		runtime.LockOSThread()
		fault <- dialAs(path, 65534)
	}()
	if err := <-fault; err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := localsocket.PeerOf(c); !errors.Is(err, localsocket.ErrOtherUser) {
		t.Errorf("got %v, want %v", err, localsocket.ErrOtherUser)
	}
}

// dialAs connects as another user; only this thread is that user.
func dialAs(path string, uid int) error {
	keep := ^uintptr(0)
	if _, _, no := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); no != 0 {
		return no
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

// handles reports whether the kernel tells when the process at the other end has ended.
func handles() bool {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	fd, err := unix.GetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err != nil {
		return false
	}
	return unix.Close(fd) == nil
}
