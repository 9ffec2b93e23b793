//go:build linux || darwin

package localsocket_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/localsocket"
)

// TestMain makes the test binary a program that connects to an address and waits for the end of
// the connection, if it is named dialer.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "dialer" {
		c, err := localsocket.Dial(context.Background(), os.Args[1])
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_, _ = c.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func mustListen(t *testing.T, folder string) *localsocket.Listener {
	t.Helper()
	l, err := localsocket.Listen(localsocket.Address(folder, "0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// folder makes a folder that is closed to others.
func folder(t *testing.T, below ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{t.TempDir()}, below...)...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBothEndsTalk(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"a short path": folder(t), "a path that is longer than the kernel takes": folder(t, strings.Repeat("a", 100), strings.Repeat("b", 100)),
	} {
		l := mustListen(t, dir)
		said := make(chan string, 1)
		go func() { // ends with the connection
			c, err := l.Accept()
			if err != nil {
				said <- err.Error()
				return
			}
			line, _ := bufio.NewReader(c).ReadString('\n')
			said <- line
		}()
		c, err := localsocket.Dial(t.Context(), l.Address())
		if err != nil {
			t.Fatal(name, err)
		}
		fmt.Fprintln(c, "hello")
		if got := <-said; got != "hello\n" {
			t.Errorf("%s: got %q", name, got)
		}
		if info, err := os.Lstat(l.Address()); err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("%s: %v, %v, want a socket for its owner only", name, info, err)
		}
		if err := errors.Join(c.Close(), l.Close()); err != nil {
			t.Error(name, err)
		}
		if _, err := os.Lstat(l.Address()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the socket is still there after Close: %v", name, err)
		}
	}
}

// TestFoldersThatOthersCanEnterAreRefused for sockets and for the key.
func TestFoldersThatOthersCanEnterAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(dir string) (string, error)
		want string
	}{
		"open to all":   {func(d string) (string, error) { return d, os.Chmod(d, 0o755) }, "chmod go="},
		"open to some":  {func(d string) (string, error) { return d, os.Chmod(d, 0o710) }, "chmod go="},
		"a link":        {func(d string) (string, error) { return d + "/l", os.Symlink(filepath.Dir(d), d+"/l") }, "is a link"},
		"no folder":     {func(d string) (string, error) { return d + "/f", os.WriteFile(d+"/f", nil, 0o600) }, "not a directory"},
		"another's":     {func(d string) (string, error) { return d, os.Chown(d, 65534, -1) }, "another user"},
		"not there yet": {func(d string) (string, error) { return d + "/x", nil }, "no such file"},
	} {
		dir, err := tt.make(folder(t))
		if errors.Is(err, fs.ErrPermission) {
			continue // only root can give a folder away
		}
		if err != nil {
			t.Fatal(name, err)
		}
		l, err := localsocket.Listen(filepath.Join(dir, "a.sock"))
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: listening: %v, want %q", name, err, tt.want)
		}
		if _, err := localsocket.Key(t.Context(), dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the key: %v, want %q", name, err, tt.want)
		}
	}
}

// TestPeerIsTheProcessThatConnected and no longer the one that has its id after its end.
func TestPeerIsTheProcessThatConnected(t *testing.T) {
	t.Parallel()
	l := mustListen(t, folder(t))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "dialer")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), link, l.Address())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p, err := localsocket.PeerOf(c)
	if err != nil || p.PID != cmd.Process.Pid || !p.Same() {
		t.Errorf("peer %d, %v, same %v; want %d", p.PID, err, p.Same(), cmd.Process.Pid)
	}
	_ = c.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if handles() && p.Same() {
		t.Error("a process that has ended counts as the same")
	}
}

// TestOnlyStaleSocketsAreRemoved: what listens stays, and what is no socket.
func TestOnlyStaleSocketsAreRemoved(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	l := mustListen(t, dir)
	file := filepath.Join(dir, "file.sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "left.sock")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: left})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false) // as if it was killed
	_ = old.Close()
	for path, want := range map[string]bool{l.Address(): true, file: true, left: false, filepath.Join(dir, "none.sock"): false} {
		if err := localsocket.RemoveStale(t.Context(), path); err != nil {
			t.Error(path, err)
		}
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: there afterwards: %v, want %v", path, err == nil, want)
		}
	}
}
