//go:build unix

package localsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// suffix ends the names of sockets.
const suffix = ".sock"

// listen makes a socket. Its folder keeps others out while it has not its mode yet.
func listen(address string) (net.Listener, error) {
	if err := makeFolder(address); err != nil {
		return nil, err
	}
	folder, err := openFolder(filepath.Dir(address))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: within(folder, address), Net: "unix"})
	if err != nil {
		return nil, plain(err)
	}
	l.SetUnlinkOnClose(false) // by the name that it was bound by, which may be that of a descriptor
	if err = restrict(address); err != nil {
		_ = l.Close()
		_ = remove(address)
		return nil, err
	}
	return l, nil
}

// restrict gives a socket its mode, and checks that the file system took it.
func restrict(address string) error {
	if err := os.Chmod(address, 0o600); err != nil {
		return err
	}
	info, err := os.Lstat(address)
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket || info.Mode().Perm() != 0o600 {
		return fmt.Errorf("it has the mode %s", info.Mode())
	}
	return nil
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	folder, err := os.Open(filepath.Dir(address))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", within(folder, address))
	return c, plain(err)
}

// ServerOf returns the process that listens at the other end of a connection that [Dial] made.
func ServerOf(c net.Conn) (Peer, error) { return PeerOf(c) }

// stale reports whether an error of dial says that there is a socket at which nothing listens.
func stale(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// remove removes a socket, and nothing else that has its name.
func remove(address string) error {
	info, err := os.Lstat(address)
	if err == nil && info.Mode().Type() == fs.ModeSocket {
		err = os.Remove(address)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// plain drops the name that a socket was bound or dialed by: errors name the address.
func plain(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
