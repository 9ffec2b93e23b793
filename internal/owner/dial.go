package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/lineage"
	"hermes/internal/localsocket"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
)

// Dialer connects frontends to the processes that run sessions.
type Dialer struct {
	// Folder is the folder "run" of the home that both share.
	Folder string
	// Above looks for agents above a process; nil looks everywhere.
	Above func(pid int) lineage.Above
}

// Dial connects a frontend to the owner of a lease, where its lease says. If nothing listens
// there, the error is protocol.ErrConnection. A command of an agent can put its own socket in
// the place of an owner's, so that nothing is said to a process that is not the owner.
func (d Dialer) Dial(ctx context.Context, to hermes.Owner, from hermes.From) (*remote.Client, error) {
	conn, err := localsocket.Dial(ctx, to.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrConnection, err)
	}
	key, err := d.key(ctx, conn, to)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return remote.Dial(ctx, remote.NewStream(conn), remote.Hello{Key: key, Name: from.Name, Platform: cmp.Or(from.Platform, "cli"), Client: from.Client})
}

// key returns the key to show if the process that listens is the owner.
func (d Dialer) key(ctx context.Context, conn net.Conn, to hermes.Owner) (string, error) {
	if err := d.check(conn, to); err != nil {
		return "", fmt.Errorf("nothing was sent to what listens at %s: %w", to.Address, err)
	}
	return localsocket.Key(ctx, d.Folder)
}

// check refuses what is not the owner, or may not be.
func (d Dialer) check(conn net.Conn, to hermes.Owner) error {
	server, err := localsocket.ServerOf(conn)
	if err != nil {
		return fmt.Errorf("cannot tell which process that is (%w). Attach on the system where the session runs", err)
	}
	look := d.Above
	if look == nil {
		look = lineage.Probe{}.LookAt
	}
	switch above := look(server.PID); {
	case server.PID != processOf(to.Name):
		return fmt.Errorf("it is the process %d, and the session runs in another one (%s), whose socket something has replaced. End that process and look where it came from", server.PID, to.Name)
	case above.Agent():
		return fmt.Errorf("an agent's command started it (found by %s), so that it could be something else than Hermes", strings.Join(above.Signs, ", "))
	case above.Err != nil:
		return fmt.Errorf("cannot tell whether an agent started it: %w", above.Err)
	case !server.Same():
		return errors.New("it has ended meanwhile")
	}
	return nil
}

// processOf is the id of the process that a name in leases has, 0 if it has none.
func processOf(name string) int {
	name = name[:max(0, strings.LastIndexByte(name, ':'))]
	pid, err := strconv.Atoi(name[strings.LastIndexByte(name, ':')+1:])
	if err != nil {
		return 0
	}
	return pid
}
