package localsocket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// Address is the address of a name in a folder: a pipe, which needs no folder.
func Address(folder, name string) string {
	sum := sha256.Sum256([]byte(folder))
	return `\\.\pipe\hermes-` + hex.EncodeToString(sum[:8]) + "-" + name
}

// listen makes a pipe that only this user can open.
func listen(address string) (net.Listener, error) {
	sid, err := ownSID()
	if err != nil {
		return nil, err
	}
	return winio.ListenPipe(address, &winio.PipeConfig{SecurityDescriptor: "O:" + sid + "D:P(A;;GA;;;" + sid + ")"})
}

func ownSID() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", fmt.Errorf("find out which user runs this: %w", err)
	}
	return user.User.Sid.String(), nil
}

// dial connects without lending the server the rights of this process.
func dial(ctx context.Context, address string) (net.Conn, error) {
	const access = windows.GENERIC_READ | windows.GENERIC_WRITE
	return winio.DialPipeAccessImpLevel(ctx, address, access, winio.PipeImpLevelIdentification)
}

// stale is always false: a pipe ends with its process.
func stale(error) bool { return false }

func remove(string) error { return nil }

// PeerOf returns the process that opened a pipe of this process. If it belongs to another
// user, the error is [ErrOtherUser].
func PeerOf(c net.Conn) (Peer, error) {
	var pid uint32
	if err := ask(c, func(h windows.Handle) error { return windows.GetNamedPipeClientProcessId(h, &pid) }); err != nil {
		return Peer{}, fmt.Errorf("find the process at the other end: %w", err)
	}
	if err := sameUser(pid); err != nil {
		return Peer{}, err
	}
	return Peer{PID: int(pid)}, nil
}

// ServerOf returns the process that listens at the other end of a connection that [Dial] made.
func ServerOf(c net.Conn) (Peer, error) {
	var pid uint32
	if err := ask(c, func(h windows.Handle) error { return windows.GetNamedPipeServerProcessId(h, &pid) }); err != nil {
		return Peer{}, fmt.Errorf("find the process at the other end: %w", err)
	}
	if err := sameUser(pid); err != nil {
		return Peer{}, err
	}
	return Peer{PID: int(pid)}, nil
}

func ask(c net.Conn, f func(windows.Handle) error) error {
	pipe, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return errors.New("the connection is no pipe")
	}
	return f(windows.Handle(pipe.Fd()))
}

// sameUser refuses a process of another user, and one that cannot be looked at.
func sameUser(pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return errHidden
	}
	defer windows.CloseHandle(h)
	var token windows.Token
	if err := windows.OpenProcessToken(h, windows.TOKEN_QUERY, &token); err != nil {
		return ErrOtherUser // the token of a process of this user can be read
	}
	defer token.Close()
	user, err := token.GetTokenUser()
	if err != nil {
		return ErrOtherUser
	}
	own, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil || !own.User.Sid.Equals(user.User.Sid) {
		return ErrOtherUser
	}
	return nil
}

// openFolder opens the folder of a key. The rules of the user's profile keep others out.
func openFolder(path string) (*os.File, error) { return os.Open(path) }

func private(string, fs.FileInfo) error { return nil }
