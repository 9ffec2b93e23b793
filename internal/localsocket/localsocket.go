// Package localsocket lets processes of one user on one machine talk to each other: over a
// Unix socket, on Windows over a named pipe. Only this user can connect, and each side knows
// the process at the other end.
//
// A server listens at an address of a folder ([Address], [Listen]); whoever knows the address
// dials it ([Dial]). Connections of other users are refused on both sides. That is not enough
// where programs of the same user must be kept out: key.go has a secret for those who may read
// a folder, and [PeerOf] tells which process to look at.
//
// The package does not know what is said over a connection. Start at Listen. What differs
// between systems is in the files named socket, peer and folder.
package localsocket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Peer is the process at the other end of a connection.
type Peer struct {
	PID int
	// alive reports whether the process that connected still runs; nil is unknown.
	alive func() bool
}

// Same reports whether the process that connected still has its PID. What was found out about
// a PID holds for the peer only if Same is true afterwards. Where the system cannot tell, it is
// true.
func (p Peer) Same() bool { return p.alive == nil || p.alive() }

// ErrOtherUser means that the process at the other end belongs to another user.
var ErrOtherUser = errors.New("the process at the other end belongs to another user")

// errHidden means that the system does not show the process at the other end, for example
// because it is in another container.
var errHidden = errors.New("the process at the other end is not visible")

// Listener accepts connections at an address.
type Listener struct {
	net.Listener
	address string
}

// Listen begins to listen at an address that [Address] returned, where nothing may listen yet.
// The folder must exist, belong to this user and be closed to all others. The caller must call
// Close, which also removes the address.
func Listen(address string) (*Listener, error) {
	l, err := listen(address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return &Listener{Listener: l, address: address}, nil
}

// Address is where the listener listens.
func (l *Listener) Address() string { return l.address }

// Close ends the listener and removes its address. Accepted connections go on.
func (l *Listener) Close() error {
	return errors.Join(l.Listener.Close(), remove(l.address))
}

// Dial connects to an address. A process of another user that listens there is refused.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	if _, err := ServerOf(c); errors.Is(err, ErrOtherUser) { // it may be hidden
		_ = c.Close()
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	return c, nil
}

// lookTime limits how long RemoveStale waits for an answer.
const lookTime = time.Second

// RemoveStale removes what a process that was killed left behind at an address. It does
// nothing if a process listens there, or if that is not certain.
func RemoveStale(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	c, err := dial(ctx, address)
	switch {
	case err == nil:
		return c.Close()
	case stale(err):
		return remove(address)
	}
	return nil
}
