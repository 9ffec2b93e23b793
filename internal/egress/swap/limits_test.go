package swap_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"hermes/internal/egress/swap"

	"github.com/coder/websocket"
)

// waiting is a host that tells of each request and answers when it is told to.
type waiting struct{ came, answer chan bool }

func newWaiting() waiting { return waiting{make(chan bool, 100), make(chan bool)} }

func (h waiting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.came <- true
	select {
	case <-h.answer:
	case <-r.Context().Done():
	}
}

func TestRequestsInFlightAreCounted(t *testing.T) {
	t.Parallel()
	host := newWaiting()
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}, config: swap.Config{Limits: swap.Limits{Requests: 2}}})
	done := make(chan int, 2)
	first := l.client(true) // both over one connection
	for range 2 {
		go func() {
			reply, err := first.Do(l.request("GET", "/", ""))
			if err != nil {
				done <- 0
				return
			}
			reply.Body.Close()
			done <- reply.StatusCode
		}()
	}
	<-host.came
	<-host.came
	for _, http2 := range []bool{true, false} {
		got := l.doWith(l.client(http2), l.request("POST", "/", "x"))
		if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "2 requests of this session at a time") || got.header.Get("Retry-After") == "" {
			t.Errorf("the third: %v", got)
		}
	}
	close(host.answer)
	if a, b := <-done, <-done; a != 200 || b != 200 {
		t.Errorf("the first two: %d, %d", a, b)
	}
	waitFor(t, func() bool { return l.do(l.request("GET", "/", "")).status == 200 })
}

func TestConnectionsToHostsAreCounted(t *testing.T) {
	t.Parallel()
	host := newWaiting()
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}, http1: true, config: swap.Config{Limits: swap.Limits{Conns: 2}}})
	clients := []*http.Client{l.client(false), l.client(true)}
	done := make(chan int, 2)
	for _, c := range clients {
		go func() {
			reply, err := c.Do(l.request("GET", "/", ""))
			if err != nil {
				done <- 0
				return
			}
			reply.Body.Close()
			done <- reply.StatusCode
		}()
	}
	<-host.came
	<-host.came
	if got := l.do(l.request("GET", "/", "")); got.status != http.StatusBadGateway || !strings.Contains(got.body, "too many connections to hosts") {
		t.Errorf("the third: %v", got)
	}
	close(host.answer)
	if a, b := <-done, <-done; a != 200 || b != 200 {
		t.Errorf("the first two: %d, %d", a, b)
	}
	for _, c := range clients {
		c.CloseIdleConnections()
	}
	waitFor(t, func() bool { return l.do(l.request("GET", "/", "")).status == 200 })
}

// TestClientsLearnTheLimitsOfAConnection reads the settings of HTTP/2.
func TestClientsLearnTheLimitsOfAConnection(t *testing.T) {
	t.Parallel()
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: &log{}}})
	conn := tls.Client(l.tunnel(api).NetConn(), &tls.Config{ServerName: api, RootCAs: l.roots(), NextProtos: []string{"h2"}})
	defer conn.Close()
	framer := http2.NewFramer(conn, conn)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	frame, err := framer.ReadFrame()
	settings, ok := frame.(*http2.SettingsFrame)
	if err != nil || !ok {
		t.Fatalf("%v, %v", frame, err)
	}
	for id, most := range map[http2.SettingID]uint32{
		http2.SettingMaxConcurrentStreams: 32, http2.SettingMaxHeaderListSize: 65 << 10, http2.SettingInitialWindowSize: 64 << 10,
	} {
		if got, ok := settings.Value(id); !ok || got > most {
			t.Errorf("%v is %d, want at most %d", id, got, most)
		}
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	got := l.send(api, "GET / HTTP/1.1\nHost: "+api+"\nX-Long: "+strings.Repeat("x", 80<<10)+"\n\n")
	if !strings.HasPrefix(got, "HTTP/1.1 431") || len(host.all()) > 0 {
		t.Errorf("%.100q, %d requests", got, len(host.all()))
	}
}

// TestARequestThatStandsStillEnds is about each place where a request can wait for ever.
func TestARequestThatStandsStillEnds(t *testing.T) {
	t.Parallel()
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/silent":
			<-r.Context().Done()
		case "/begun":
			_, _ = io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/body":
			_, _ = io.Copy(io.Discard, r.Body)
		case "/flood":
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 32<<10))
			}
		case "/socket":
			c, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			_, _, _ = c.Read(r.Context())
			c.CloseNow()
		}
	})
	for _, path := range []string{"/silent", "/begun", "/body", "/flood", "/socket"} {
		for _, http2 := range []bool{true, false} {
			if http2 && path == "/socket" {
				continue
			}
			t.Run(fmt.Sprintf("%s http2 %t", path[1:], http2), func(t *testing.T) {
				t.Parallel()
				var running atomic.Int64
				counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					running.Add(1)
					defer running.Add(-1)
					host(w, r)
				})
				limits := swap.Limits{Still: 500 * time.Millisecond}
				l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: counted}, http1: !http2, config: swap.Config{Limits: limits}})
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				do := func() (*http.Response, error) {
					r := l.request("POST", path, "").WithContext(ctx)
					if path == "/body" {
						in, out := io.Pipe()
						t.Cleanup(func() { out.Close() })
						r.Body, r.ContentLength = in, -1
						go func() { _, _ = io.WriteString(out, "x") }()
					}
					return l.client(http2).Do(r)
				}
				if path == "/body" && !http2 {
					do = func() (*http.Response, error) { return l.begin(path) }
				}
				if path == "/socket" {
					if c, _, err := websocket.Dial(ctx, "wss://"+api+path, &websocket.DialOptions{HTTPClient: l.client(false)}); err == nil {
						defer c.CloseNow()
						_, _, _ = c.Read(ctx)
					}
				} else if reply, err := do(); err == nil {
					defer reply.Body.Close()
					if path != "/flood" { // its child does not read
						_, err = io.ReadAll(reply.Body)
					}
					if path != "/flood" && err == nil && reply.StatusCode != http.StatusGatewayTimeout {
						t.Errorf("it looks whole: %s", reply.Status)
					}
				}
				waitFor(t, func() bool { return running.Load() == 0 })
				if ctx.Err() != nil {
					t.Error("it goes on")
				}
			})
		}
	}
}

// TestAReplyThatWasEndedDoesNotLookWhole has a host that takes the end of its connection for the
// end of the request, and ends its reply properly while it still can.
func TestAReplyThatWasEndedDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	l := newLab(t, options{
		secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}, http1: true, lingers: true,
		config: swap.Config{Limits: swap.Limits{Still: 200 * time.Millisecond}},
	})
	reply, err := l.client(false).Do(l.request("GET", "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, err := io.ReadAll(reply.Body); err == nil || string(text) != "begun" {
		t.Errorf("it looks whole: %s, %q, %v", reply.Status, text, err)
	}
}

// TestARequestThatMovesGoesOn passes one byte after the other, for longer than a request may
// stand still.
func TestARequestThatMovesGoesOn(t *testing.T) {
	t.Parallel()
	host := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.(http.Flusher).Flush()
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			fmt.Fprintln(w, lines.Text())
			w.(http.Flusher).Flush()
		}
	})
	still := 2 * time.Second
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}, config: swap.Config{Limits: swap.Limits{Still: still}}})
	in, out := io.Pipe()
	r := l.request("POST", "/", "")
	r.Body, r.ContentLength = in, -1
	reply, err := l.client(true).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	lines := bufio.NewReader(reply.Body)
	for began := time.Now(); time.Since(began) < still+still/4; {
		fmt.Fprintln(out, "line")
		if line, err := lines.ReadString('\n'); line != "line\n" || err != nil {
			t.Fatalf("after %v: %q, %v", time.Since(began), line, err)
		}
	}
	out.Close()
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}
