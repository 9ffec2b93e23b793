package egress

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"hermes/internal/race"
)

// TestAProxyThatRefusesWhileTheContextEndsIsAnError and no crash: what the end of the context
// starts then runs after the connection was given up.
func TestAProxyThatRefusesWhileTheContextEndsIsAnError(t *testing.T) {
	t.Parallel()
	up := &url.URL{Scheme: "http", Host: "10.9.9.9:3128"}
	for range race.Rounds(200, 50) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &refusing{cancel: cancel, answer: strings.NewReader("HTTP/1.1 403 Forbidden\r\n\r\n"), ended: make(chan struct{}, 1)}
		p := New(Config{Connect: func(context.Context, string, string) (net.Conn, error) { return c, nil }})
		conn, err := p.through(ctx, up, target{"api.test", 443})
		if conn != nil || err == nil {
			t.Fatalf("got %v, %v, want an error", conn, err)
		}
		<-c.ended
		p.Close()
	}
}

// refusing is a proxy that says no after the context of who asked has ended.
type refusing struct {
	net.Conn
	cancel context.CancelFunc
	answer *strings.Reader
	ended  chan struct{}
}

func (r *refusing) Write(b []byte) (int, error) { r.cancel(); return len(b), nil }
func (r *refusing) Read(b []byte) (int, error)  { return r.answer.Read(b) }
func (r *refusing) Close() error                { return nil }
func (r *refusing) SetDeadline(time.Time) error { r.ended <- struct{}{}; return nil }
