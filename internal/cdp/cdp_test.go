package cdp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"hermes/internal/cdp"
)

// request is a call as a browser reads it.
type request struct {
	ID      int64
	Method  string
	Session string `json:"sessionId"`
	Params  json.RawMessage
}

// peer is the browser's end of a pipe.
type peer struct {
	t    *testing.T
	in   *bufio.Reader
	to   *os.File
	from *os.File
}

func (p *peer) read() request {
	p.t.Helper()
	raw, err := p.in.ReadBytes(0)
	if err != nil {
		p.t.Fatal(err)
	}
	var r request
	if err := json.Unmarshal(raw[:len(raw)-1], &r); err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.to, format+"\x00", args...); err != nil {
		p.t.Fatal(err)
	}
}

func newPeer(t *testing.T, event func(cdp.Event)) (*cdp.Conn, *peer) {
	t.Helper()
	r1, w1, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := cdp.New(cdp.Pipe(r1, w2), event)
	t.Cleanup(func() { w1.Close(); r2.Close() })
	t.Cleanup(c.Close)
	return c, &peer{t, bufio.NewReader(r2), w1, r2}
}

// begin calls in the background.
func begin(t *testing.T, c *cdp.Conn, session, method string, result any) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(t.Context(), session, method, map[string]int{"a": 1}, result) }()
	return done
}

func TestAnswersFindTheirCalls(t *testing.T) {
	t.Parallel()
	c, p := newPeer(t, func(cdp.Event) {})
	var one, two struct{ V int }
	first := begin(t, c, "s1", "A.one", &one)
	r1 := p.read()
	second := begin(t, c, "", "A.two", &two)
	r2 := p.read()
	if r1.Method != "A.one" || r1.Session != "s1" || string(r1.Params) != `{"a":1}` || r2.Session != "" || r1.ID == r2.ID {
		t.Errorf("requests %+v, %+v", r1, r2)
	}
	p.send(`{"id":%d,"result":{"v":2}}`, r2.ID)
	p.send(`{"id":99,"result":{"v":7}}`)
	p.send(`{"id":%d,"result":{"v":1},"sessionId":"s1"}`, r1.ID)
	for _, done := range []<-chan error{first, second} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if one.V != 1 || two.V != 2 {
		t.Errorf("answers %d, %d", one.V, two.V)
	}
}

// TestEventsComeInOrder also in relation to answers.
func TestEventsComeInOrder(t *testing.T) {
	t.Parallel()
	got := make(chan string, 100) // with more, the test would wait for itself
	c, p := newPeer(t, func(e cdp.Event) { got <- e.Session + e.Method + string(e.Params) })
	done := begin(t, c, "", "A.one", nil)
	id := p.read().ID
	p.send(`{"method":"E.a","params":{"x":"}\"]"},"sessionId":"s"}`)
	p.send(`{"method":"E.b"}`)
	p.send(`{"id":%d,"result":{}}`, id)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	close(got)
	var all []string
	for s := range got {
		all = append(all, s)
	}
	if want := `sE.a{"x":"}\"]"} E.b`; strings.Join(all, " ") != want {
		t.Errorf("events %q before the answer, want %q", all, want)
	}
}

// TestAnEventIsTakenBeforeItsCallsFail: who sees the error finds the page as the event left it.
func TestAnEventIsTakenBeforeItsCallsFail(t *testing.T) {
	t.Parallel()
	for _, says := range []string{
		`{"method":"Inspector.targetCrashed","params":{},"sessionId":"s"}`,
		`{"method":"Target.detachedFromTarget","params":{"sessionId":"s"}}`,
	} {
		var taken atomic.Bool
		conn, p := newPeer(t, func(cdp.Event) {
			for range 1000 {
				runtime.Gosched()
			}
			taken.Store(true)
		})
		seen := make(chan bool, 1)
		go func() {
			_ = conn.Call(t.Context(), "s", "A.one", nil, nil)
			seen <- taken.Load()
		}()
		p.read()
		p.send("%s", says)
		if !<-seen {
			t.Errorf("the call failed before %s was taken", says)
		}
	}
}

// TestErrorsTellWhatHasGone apart: the browser, the tab, a crash, a node.
func TestErrorsTellWhatHasGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		want       error
	}{
		{"node", `{"id":%d,"error":{"code":-32000,"message":"No node with given id found"}}`, cdp.ErrNoNode},
		{"session", `{"id":%d,"error":{"code":-32001,"message":"Session with given id not found."}}`, cdp.ErrDetached},
		{"moved", `{"id":%d,"error":{"code":-32000,"message":"Not attached to an active page"}}`, cdp.ErrMoved},
		{"crash", `{"method":"Inspector.targetCrashed","params":{},"sessionId":"s","x":%d}`, cdp.ErrCrashed},
		{"detached", `{"method":"Target.detachedFromTarget","params":{"sessionId":"s"},"x":%d}`, cdp.ErrDetached},
		{"garbage", `{"id":%d`, cdp.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, p := newPeer(t, func(cdp.Event) {})
			done := begin(t, conn, "s", "A.one", nil)
			p.send(c.says, p.read().ID)
			if err := <-done; !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	conn, p := newPeer(t, func(cdp.Event) {})
	done := begin(t, conn, "s", "A.one", nil)
	p.send(`{"id":%d,"error":{"code":-32602,"message":"Invalid parameters","data":"url"}}`, p.read().ID)
	var e *cdp.Error
	if err := <-done; !errors.As(err, &e) || errors.Is(err, cdp.ErrNoNode) || !strings.Contains(err.Error(), "A.one: Invalid parameters (url)") {
		t.Errorf("got %v", err)
	}
	done = begin(t, conn, "other", "A.one", nil)
	p.read()
	p.send(`{"method":"Inspector.targetCrashed","params":{},"sessionId":"s"}`)
	p.to.Close()
	if err := <-done; !errors.Is(err, cdp.ErrClosed) {
		t.Errorf("after the end of the browser: %v", err)
	}
	if err := conn.Call(t.Context(), "", "A.two", nil, nil); !errors.Is(err, cdp.ErrClosed) || !errors.Is(conn.Err(), cdp.ErrClosed) {
		t.Errorf("a later call: %v", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c, p := newPeer(t, func(cdp.Event) {})
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, "", "A.one", nil, nil) }()
	late := p.read().ID
	why := errors.New("why")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	p.send(`{"id":%d,"result":{}}`, late)
	next := begin(t, c, "", "A.two", nil)
	p.send(`{"id":%d,"result":{}}`, p.read().ID)
	if err := <-next; err != nil {
		t.Error(err)
	}
}

// TestALongAnswerFailsItsCallOnly over both transports.
func TestALongAnswerFailsItsCallOnly(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", cdp.MaxMessage)
	t.Run("pipe", func(t *testing.T) {
		c, p := newPeer(t, func(cdp.Event) {})
		done := begin(t, c, "", "A.one", nil)
		p.send(`{"id":%d,"result":{"v":"%s"}}`, p.read().ID, long)
		if err := <-done; !errors.Is(err, cdp.ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		next := begin(t, c, "", "A.two", nil)
		p.send(`{"id":%d,"result":{}}`, p.read().ID)
		if err := <-next; err != nil {
			t.Error(err)
		}
	})
	t.Run("socket", func(t *testing.T) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer conn.CloseNow()
			for n := 0; ; n++ {
				_, raw, err := conn.Read(r.Context())
				if err != nil {
					return
				}
				var q request
				if json.Unmarshal(raw, &q) != nil {
					return
				}
				v := "short"
				if n == 0 {
					v = long
				}
				if conn.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"result":{"v":"%s"}}`, q.ID, v)) != nil {
					return
				}
			}
		}))
		defer s.Close()
		tr, err := cdp.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := cdp.New(tr, func(cdp.Event) {})
		defer c.Close()
		if err := c.Call(t.Context(), "", "A.one", nil, nil); !errors.Is(err, cdp.ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		var v struct{ V string }
		if err := c.Call(t.Context(), "", "A.two", nil, &v); err != nil || v.V != "short" {
			t.Errorf("then %v, %q", err, v.V)
		}
	})
}

func TestDialNamesTheStatus(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := cdp.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http"), nil); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v", err)
	}
}

// silent is a transport that reads what it was given.
type silent struct{ io.Writer }

func (silent) Close() error { return nil }

// FuzzRead: no bytes of a browser make the reader fail in another way than with an error.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"{}\x00", `{"id":1,"result":{"a":[1,"}"]}}` + "\x00", `{"method":"A.b","params":{"x":"\\\""},"sessionId":"s"}` + "\x00{", "\x00\x00", `{"id":1,"error":null}` + "\x00", `{"a" : tru` + "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := cdp.New(cdp.Pipe(io.NopCloser(strings.NewReader(s)), silent{io.Discard}), func(e cdp.Event) {
			if e.Method == "" {
				t.Errorf("an event without a method: %+v", e)
			}
		})
		<-c.Gone()
		c.Close()
		if err := c.Err(); !errors.Is(err, cdp.ErrClosed) {
			t.Errorf("it ended with %v", err)
		}
	})
}
