//go:build amd64 || arm64

package confine_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"hermes/internal/accept/accepttest"
	"hermes/internal/sandbox"
)

// TestAPortStaysOpenAfterErrorsThatPass, such as too many open files.
func TestAPortStaysOpenAfterErrorsThatPass(t *testing.T) {
	t.Parallel()
	s := newScene(t, sandbox.A)
	s.run(t, "python3 -m http.server 8765 >/dev/null 2>&1 & until curl -s -o /dev/null http://127.0.0.1:8765/; do sleep 0.05; done")
	l := accepttest.New(3)
	stop, ended := s.walls.ForwardFrom(l, 8765)
	defer stop()
	ours, theirs := net.Pipe()
	defer ours.Close()
	select {
	case l.Conns() <- theirs:
	case <-ended:
		t.Fatal("it forwards no more")
	}
	go func() { _, _ = io.WriteString(ours, "GET /a.txt HTTP/1.0\r\n\r\n") }()
	resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(io.LimitReader(resp.Body, 7)); string(body) != "inside\n" || err != nil {
		t.Errorf("the port said %q, %v", body, err)
	}
}
