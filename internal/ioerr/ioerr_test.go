package ioerr_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes/internal/ioerr"
)

func TestText(t *testing.T) {
	t.Parallel()
	path := func(op string, err error) error { return &fs.PathError{Op: op, Path: "/x/y", Err: err} }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("as it is"), "as it is"},
		{fmt.Errorf("--image: %w", path("open", syscall.ENOENT)), "--image: there is no /x/y"},
		{path("open", syscall.EACCES), "no permission to read /x/y"},
		{path("unlinkat", syscall.EACCES), "no permission to change /x/y"},
		{path("write", syscall.ENOSPC), "the disk of /x/y is full"},
		{path("write", syscall.EDQUOT), "the disk of /x/y is full"},
		{path("open", syscall.EROFS), "/x/y is on a read-only disk"},
		{path("read", syscall.EISDIR), "/x/y is a folder"},
		{path("mkdir", syscall.ENOTDIR), "a part of /x/y is a file, not a folder"},
		{path("open", syscall.EEXIST), "/x/y already exists"},
		{&fs.PathError{Op: "open", Path: strings.Repeat("n", 300), Err: syscall.ENAMETOOLONG}, "the name " + strings.Repeat("n", 30) + "…" + strings.Repeat("n", 20) + " is too long"},
		{path("poke", syscall.EIO), "/x/y: " + syscall.EIO.Error()},
		{&os.LinkError{Op: "rename", Old: "/a", New: "/b", Err: syscall.ENOSPC}, "the disk of /b is full"},
		{os.NewSyscallError("fsync", syscall.EIO), syscall.EIO.Error()},
		{fmt.Errorf("hub: %w", &url.Error{Op: "Get", URL: "https://a.example/x?y", Err: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "a.example", Server: "10.0.0.1:53", IsNotFound: true}}}),
			"hub: the address of a.example was not found; check the network"},
		{&url.Error{Op: "Get", URL: "http://127.0.0.1:1/x", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}, "nothing answers at 127.0.0.1:1"},
		{&url.Error{Op: "Get", URL: "http://h/x", Err: context.DeadlineExceeded}, "h did not answer in time"},
		{&url.Error{Op: "Get", URL: "http://h/x", Err: errors.New("too many redirects")}, "h: too many redirects"},
		{errors.Join(path("open", syscall.ENOENT), errors.New("and more")), "there is no /x/y\nand more"},
	} {
		if got := ioerr.Text(tt.err); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestRealErrorNamesNoSystemCall(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "none")
	_, err := os.ReadFile(name)
	if got, want := ioerr.Text(fmt.Errorf("read the question: %w", err)), "read the question: there is no "+name; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("else"), ""},
		{&fs.PathError{Op: "write", Path: "/h/a", Err: syscall.ENOSPC}, "Free some space"},
		{&fs.PathError{Op: "open", Path: "/h/a", Err: syscall.EROFS}, "HERMES_HOME"},
		{&fs.PathError{Op: "open", Path: "/h/a", Err: syscall.EACCES}, "ls -ld /h/a"},
		{fs.ErrPermission, ""},
	} {
		got := ioerr.Advice(tt.err)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}
