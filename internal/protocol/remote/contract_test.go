package remote_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
	"hermes/internal/protocol/remote"
)

// transport makes the two ends of a connection.
type transport func(t testing.TB) (server, client jsonrpc.Stream)

var transports = map[string]transport{"socket": socket, "pipes": pipes, "websocket": webSocket}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, ends := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			protocoltest.Run(t, func(t *testing.T, w *protocoltest.World, from hermes.From) protocol.Client {
				server, client := ends(t)
				return mustConnect(t, w.Client, server, client, remote.Hello{Key: "key", Name: from.Name, Platform: from.Platform})
			})
		})
	}
}

// mustConnect serves a client over the ends of a connection. When the test ends, both ends must.
func mustConnect(t testing.TB, lent protocol.Client, server, client jsonrpc.Stream, h remote.Hello) *remote.Client {
	t.Helper()
	over := make(chan error, 1)
	go func() {
		over <- remote.Serve(context.Background(), server, remote.Server{Client: lent, Admit: admit, Name: "test"})
	}()
	c, err := remote.Dial(t.Context(), client, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-over; err != nil {
			t.Errorf("served: %v", err)
		}
	})
	return c
}

func memory(testing.TB) (server, client jsonrpc.Stream) {
	a, b := net.Pipe()
	return remote.NewStream(a), remote.NewStream(b)
}

func socket(t testing.TB) (server, client jsonrpc.Stream) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return remote.NewStream(a), remote.NewStream(b)
}

func pipes(t testing.TB) (server, client jsonrpc.Stream) {
	t.Helper()
	pipe := func() (io.ReadCloser, io.WriteCloser) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	in, toServer := pipe()
	fromServer, out := pipe()
	return remote.NewStream(jsonrpc.Pipes(in, out)), remote.NewStream(jsonrpc.Pipes(fromServer, toServer))
}

func webSocket(t testing.TB) (server, client jsonrpc.Stream) {
	t.Helper()
	accepted, done := make(chan *websocket.Conn), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		accepted <- c
		<-done
	}))
	t.Cleanup(func() {
		close(done)
		s.Close()
	})
	c, _, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	return remote.NewWebSocket(<-accepted), remote.NewWebSocket(c)
}
