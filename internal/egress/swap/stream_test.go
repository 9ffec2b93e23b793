package swap_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes/internal/egress/swap"

	"github.com/coder/websocket"
)

// TestCallsInBothDirectionsAreNotDelayed is what gRPC does: over one HTTP/2 stream, each message
// is answered before the next is sent, and the end is told in a trailer. Each answer ends as
// the value begins.
func TestCallsInBothDirectionsAreNotDelayed(t *testing.T) {
	t.Parallel()
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			fmt.Fprintf(w, "%s %s %s gh", lines.Text(), r.Header.Get("Te"), r.Header.Get("Authorization"))
			w.(http.Flusher).Flush()
		}
		w.Header().Set("Grpc-Status", "0")
	})
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	in, out := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "https://"+api+"/pkg.Service/Call", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Te", "trailers")
	r.Header.Set("Authorization", "Bearer "+l.placeholder())
	reply, err := l.client(true).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	for i := range 20 {
		fmt.Fprintf(out, "message %d\n", i)
		want := fmt.Sprintf("message %d trailers Bearer %s gh", i, l.placeholder())
		got := make([]byte, len(want))
		if _, err := io.ReadFull(reply.Body, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	out.Close()
	if rest, err := io.ReadAll(reply.Body); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	if reply.ProtoMajor != 2 || reply.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("%s, trailer %v", reply.Proto, reply.Trailer)
	}
}

func TestEventsArriveAtOnce(t *testing.T) {
	t.Parallel()
	next := make(chan bool)
	ended := make(chan bool, 2)
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- true }()
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", r.Header.Get("X-Api-Key"))
			w.(http.Flusher).Flush()
		}
	})
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	for _, http2 := range []bool{true, false} {
		r := l.request("GET", "/", "", "X-Api-Key", l.placeholder())
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		go func() { next <- true }()
		reply, err := l.client(http2).Do(r.WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(reply.Body)
		for i := range 10 {
			if i > 0 {
				next <- true
			}
			line, err := lines.ReadString('\n')
			if want := "data: " + l.placeholder() + "\n"; line != want || err != nil {
				t.Fatalf("%q, %v", line, err)
			}
			_, _ = lines.ReadString('\n')
		}
		cancel()
		reply.Body.Close()
		<-ended // the host hears of it, too
	}
}

func TestWebSocket(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("the key is ", 200)
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover, CompressionThreshold: 1})
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		for {
			kind, message, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if string(message) == "key?" {
				message = []byte(words + r.Header.Get("Authorization")) // worth compressing
			}
			if c.Write(r.Context(), kind, message) != nil {
				return
			}
		}
	})
	var asked []swap.Request
	allow := func(_ context.Context, r swap.Request) error { asked = append(asked, r); return nil }
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}, config: swap.Config{MayWrite: allow}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(ctx, "wss://"+api+"/socket", &websocket.DialOptions{
		HTTPClient:      l.client(false),
		HTTPHeader:      http.Header{"Authorization": {"Bearer " + l.placeholder()}},
		CompressionMode: websocket.CompressionContextTakeover,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	long := strings.Repeat("long ", 40000)
	for _, m := range []struct{ send, want string }{
		{"hello", "hello"}, {"gh", "gh"}, {"g", "g"}, {long, long}, {"key?", words + "Bearer " + l.placeholder()}, {l.placeholder(), l.placeholder()},
	} {
		if err := c.Write(ctx, websocket.MessageText, []byte(m.send)); err != nil {
			t.Fatal(err)
		}
		_, got, err := c.Read(ctx)
		if string(got) != m.want || err != nil {
			t.Fatalf("%.80q, %v, want %.80q", got, err, m.want)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	if len(asked) != 1 || asked[0].Path != "/socket" {
		t.Errorf("asked %v", asked)
	}
}

func TestOtherUpgradesAreNotMade(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	l.send(api, "GET / HTTP/1.1\nHost: "+api+"\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\n\nGET / HTTP/1.1\nHost: "+api+"\nConnection: close\n\n")
	for _, r := range host.all() {
		if r.header.Get("Upgrade") != "" || r.header.Get("Http2-Settings") != "" {
			t.Errorf("the host got %v", r.header)
		}
	}
	if len(host.all()) != 2 {
		t.Errorf("%d requests", len(host.all()))
	}
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	refuse := true
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse {
			w.WriteHeader(http.StatusExpectationFailed)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "got %s", body)
	})
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	head := "PUT / HTTP/1.1\nHost: " + api + "\nExpect: 100-continue\nContent-Length: 4\nConnection: close\n\n"
	if got := l.send(api, head); !strings.HasPrefix(got, "HTTP/1.1 417") {
		t.Errorf("%q", got)
	}
	refuse = false
	conn := l.tunnel(api)
	fmt.Fprint(conn, strings.ReplaceAll(head, "\n", "\r\n"))
	reader := bufio.NewReader(conn)
	if line, err := reader.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	fmt.Fprint(conn, "body")
	rest, _ := io.ReadAll(reader)
	if !strings.Contains(string(rest), "got body") {
		t.Errorf("%q", rest)
	}
}

func TestManyRequestsOverOneConnection(t *testing.T) {
	t.Parallel()
	host := &log{answer: func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 100_000)) }}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	client := l.client(true)
	done := make(chan answer)
	for i := range 50 {
		go func() {
			done <- l.doWith(client, l.request("POST", fmt.Sprintf("/%d", i), strings.Repeat("x", 50_000), "X-Api-Key", l.placeholder()))
		}()
	}
	for range 50 {
		if got := <-done; got.status != 200 || len(got.body) != 100_000 {
			t.Errorf("%d, %d bytes", got.status, len(got.body))
		}
	}
	for _, r := range host.all() {
		if r.header.Get("X-Api-Key") != canary || len(r.body) != 50_000 {
			t.Errorf("the host got %s with %d bytes", r.uri, len(r.body))
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	flood := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 32<<10)) // the child does not read: this gets stuck
		}
	})
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: flood}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for name, speak := range map[string]func(*tls.Conn){
		"no handshake": func(*tls.Conn) {},
		"idle":         func(c *tls.Conn) { _ = c.Handshake() },
		"stuck": func(c *tls.Conn) {
			fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", api)
			_, _ = io.ReadFull(c, make([]byte, 100<<10))
			time.Sleep(50 * time.Millisecond)
		},
	} {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- l.swap.Serve(ctx, server, api, 443, func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", l.hosts[api])
			})
		}()
		speak(tls.Client(client, &tls.Config{ServerName: api, RootCAs: l.roots(), NextProtos: []string{"http/1.1"}}))
		cancel()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
		client.Close()
	}
}

// TestEarlyAnswerOverHTTP1 answers while the child still sends.
func TestEarlyAnswerOverHTTP1(t *testing.T) {
	t.Parallel()
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.WriteString(w, "early ")
		w.(http.Flusher).Flush()
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "got %d", len(body))
	})
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	conn := l.tunnel(api)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", api)
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	early := make([]byte, 6)
	if _, err := io.ReadFull(reply.Body, early); err != nil || string(early) != "early " {
		t.Fatalf("%q, %v", early, err)
	}
	fmt.Fprint(conn, "2\r\nbc\r\n0\r\n\r\n")
	if rest, err := io.ReadAll(reply.Body); string(rest) != "got 3" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}
