package egress_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"hermes/internal/accept/accepttest"
	"hermes/internal/egress"
)

// TestServeOutlastsErrorsThatPass, such as too many open files, however long they last.
func TestServeOutlastsErrorsThatPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := egress.New(newWorld().config())
		defer p.Close()
		s, l, served := p.Session(egress.SessionConfig{}), accepttest.New(100), make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		ours, theirs := net.Pipe()
		defer ours.Close()
		select {
		case l.Conns() <- theirs:
		case err := <-served:
			t.Fatal("it serves no more:", err)
		}
		go func() { _, _ = io.WriteString(ours, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n") }()
		resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
		if err != nil || resp.StatusCode != http.StatusProxyAuthRequired {
			t.Errorf("the answer is %v, %v", resp, err)
		}
		s.Close()
		if err := <-served; err == nil {
			t.Error("Serve has ended without an error")
		}
	})
}
