package egress

import (
	"context"
	"net"
)

// Swapper ends the TLS of hosts for which the user declared a secret, and puts the secret in
// place of its placeholder.
type Swapper interface {
	// Handles reports whether connections to a host, in its plain form, are served by it. The
	// host is already allowed.
	Handles(host string, port uint16) bool
	// Serve serves one connection and returns when it is over. The client is about to send the
	// first message of TLS, which is known to name the host. dial opens a connection to an
	// address of the host that was judged; Serve speaks TLS on it, verifies it, and closes it.
	// Serve must return when ctx ends or client is closed.
	Serve(ctx context.Context, client net.Conn, host string, port uint16, dial func(context.Context) (net.Conn, error)) error
	// Environ returns variables that make programs trust the authority of Serve, and writes the
	// files that they name into dir. The proxy does not call it.
	Environ(dir string) ([]string, error)
}
