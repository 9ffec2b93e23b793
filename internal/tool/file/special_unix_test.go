//go:build !windows

package file_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestReadNeverWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, syscall.Mkfifo(w.path("pipe"), 0o644))
	must(t, os.Symlink("pipe", w.path("plain.txt")))
	must(t, os.Symlink("/dev/zero", w.path("zero.txt")))
	dir, err := os.MkdirTemp("", "s") // a socket's path must be short
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	t.Cleanup(func() { l.Close() })

	done := make(chan struct{})
	go func() {
		defer close(done)
		for path, want := range map[string]string{
			"pipe": "pipe", "plain.txt": "pipe", filepath.Join(dir, "s"): "socket",
			"/dev/zero": "device", "zero.txt": "device", "/dev/./urandom": "device", "/dev/../dev/tty": "device",
			"/dev/stdin": "device", "/dev/fd/0": "device", "/proc/self/fd/0": "descriptor", "/proc/self/environ": "secrets",
			"/proc/thread-self/environ": "secrets",
		} {
			w.refused("read_file", args{"path": path}, want)
		}
		if got := w.ok("read_file", args{"path": "/dev/null"}); got["content"] != "" {
			t.Errorf("/dev/null is empty, got %v", got)
		}
		if _, err := os.Stat("/proc/self/status"); err == nil {
			if got := w.ok("read_file", args{"path": "/proc/self/status"}); got["content"] == "" {
				t.Error("plain files of /proc are read")
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("a read waits for a device or a pipe")
	}
}
