// Package accept takes the connections of a listener for servers that must outlast an error
// which passes, such as too many open files. It knows nothing of what is served; start at Next.
package accept

import (
	"context"
	"errors"
	"net"
	"time"
)

// The pauses after errors that follow each other, as those of net/http.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// Next returns the next connection of a listener. After an error it pauses and tries again, so
// it fails only once the listener is closed, with net.ErrClosed, or once ctx has ended. The end
// of ctx ends a pause, but it does not wake Accept: the caller closes the listener, too.
func Next(ctx context.Context, l net.Listener) (net.Conn, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil, ctx.Err()
		case err == nil || errors.Is(err, net.ErrClosed):
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
