//go:build amd64 || arm64

package seccomp

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProcessOfAThreadIsFound(t *testing.T) {
	got := make(chan int)
	go func() {
		runtime.LockOSThread()
		process, err := threadGroup(unix.Gettid())
		if err != nil {
			t.Error(err)
		}
		got <- process
	}()
	if process := <-got; process != os.Getpid() {
		t.Errorf("got %d, want %d", process, os.Getpid())
	}
}

// TestBothWaysKnowTheListeners compares what the kernel answers with its text
// files, which are read where it does not answer.
func TestBothWaysKnowTheListeners(t *testing.T) {
	for _, bind := range []string{"127.0.0.1", "::1", "::", "::ffff:127.0.0.1", "0.0.0.0"} {
		address := mustListenAt(t, bind)
		asked, err := askListeners(address)
		if err != nil {
			t.Fatal(err)
		}
		read, err := listeners(address)
		if err != nil {
			t.Fatal(err)
		}
		if len(asked) != 1 || len(read) != 1 || asked[0] != read[0] {
			t.Errorf("%s: asked %v, read %v", bind, asked, read)
		}
	}
}

func mustListenAt(t *testing.T, host string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	address := l.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}
