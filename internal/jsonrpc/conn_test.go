package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/jsonrpc"
)

// handle is a handler that is a func.
type handle func(ctx context.Context, r *jsonrpc.Request)

func (h handle) Handle(ctx context.Context, r *jsonrpc.Request) { h(ctx, r) }

// connected returns two connections that talk to each other. At the end of the test both must
// have ended whole.
func connected(t *testing.T, server jsonrpc.Handler, client jsonrpc.Handler, o jsonrpc.Options) (*jsonrpc.Conn, *jsonrpc.Conn) {
	t.Helper()
	a, b := net.Pipe()
	s := jsonrpc.New(context.Background(), jsonrpc.NewLines(a, 1<<20), server, o)
	c := jsonrpc.New(context.Background(), jsonrpc.NewLines(b, 1<<20), client, o)
	t.Cleanup(func() {
		_ = c.Close()
		if err := c.Wait(); !errors.Is(err, jsonrpc.ErrClosed) && !errors.Is(err, io.EOF) {
			t.Errorf("the client ended: %v", err)
		}
		s.Close()
		_ = s.Wait()
	})
	return s, c
}

// echo replies with its params, fails or panics.
func echo(_ context.Context, r *jsonrpc.Request) {
	r.Go(func(context.Context) (any, error) {
		switch r.Method {
		case "echo":
			return r.Params, nil
		case "fail":
			return nil, &jsonrpc.Error{Code: 7, Message: "no", Data: json.RawMessage(`{"class":"x"}`)}
		case "plain":
			return nil, errors.New("plain")
		case "panic":
			panic("oh")
		case "unsendable":
			return make(chan int), nil
		}
		return nil, jsonrpc.NoMethod(r.Method)
	})
}

func TestCallsGetTheirResultsAndErrors(t *testing.T) {
	t.Parallel()
	_, c := connected(t, handle(echo), nil, jsonrpc.Options{})
	var got map[string]string
	if err := c.Call(t.Context(), "echo", map[string]string{"a": "ü\n"}, &got); err != nil || got["a"] != "ü\n" {
		t.Errorf("echo: %v, %v", got, err)
	}
	for method, want := range map[string]jsonrpc.Error{
		"fail":       {Code: 7, Message: "no", Data: json.RawMessage(`{"class":"x"}`)},
		"plain":      {Code: jsonrpc.CodeInternal, Message: "plain"},
		"panic":      {Code: jsonrpc.CodeInternal, Message: "an internal error; the log has more"},
		"unsendable": {Code: jsonrpc.CodeInternal, Message: "json: unsupported type: chan int"},
		"other":      {Code: jsonrpc.CodeNoMethod, Message: `there is no method "other"`},
	} {
		e, _ := errors.AsType[*jsonrpc.Error](c.Call(t.Context(), method, nil, nil))
		if e == nil {
			t.Errorf("%s did not fail", method)
			continue
		}
		if diff := cmp.Diff(want, *e); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
}

// TestBothSidesCall at the same time, also while a request of theirs runs.
func TestBothSidesCall(t *testing.T) {
	t.Parallel()
	var server *jsonrpc.Conn
	ready := make(chan struct{})
	back := handle(func(_ context.Context, r *jsonrpc.Request) {
		r.Go(func(ctx context.Context) (any, error) {
			<-ready
			var got string
			err := server.Call(ctx, "echo", "there", &got)
			return got + " and back", err
		})
	})
	s, c := connected(t, back, handle(echo), jsonrpc.Options{})
	server = s
	close(ready)
	var got string
	if err := c.Call(t.Context(), "ask", nil, &got); err != nil || got != "there and back" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestWhatFollowsAReplyComesAfterIt, and CallFunc sees the result first.
func TestWhatFollowsAReplyComesAfterIt(t *testing.T) {
	t.Parallel()
	var server *jsonrpc.Conn
	subscribe := handle(func(ctx context.Context, r *jsonrpc.Request) {
		r.Go(func(ctx context.Context) (any, error) {
			if err := r.Reply("subscribed", nil); err != nil {
				return nil, err
			}
			for i := range 100 {
				if err := server.Notify(ctx, "event", i); err != nil {
					return nil, err
				}
			}
			return "ignored", nil
		})
	})
	var got []string
	done := make(chan struct{})
	events := handle(func(_ context.Context, r *jsonrpc.Request) {
		if got = append(got, r.Method+" "+string(r.Params)); len(got) == 101 {
			close(done)
		}
	})
	s, c := connected(t, subscribe, events, jsonrpc.Options{})
	server = s
	err := c.CallFunc(t.Context(), "subscribe", nil, func(raw json.RawMessage) error {
		got = append(got, string(raw))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	want := []string{`"subscribed"`}
	for i := range 100 {
		want = append(want, fmt.Sprintf("event %d", i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestACancelledCallIsForgotten: its response is ignored, and others get theirs.
func TestACancelledCallIsForgotten(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := handle(func(_ context.Context, r *jsonrpc.Request) {
		r.Go(func(context.Context) (any, error) {
			if r.Method == "slow" {
				<-release
			}
			return r.Method, nil
		})
	})
	_, c := connected(t, slow, nil, jsonrpc.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	cancel(mine)
	if err := c.CallFunc(ctx, "slow", nil, func(json.RawMessage) error { t.Error("taken"); return nil }); !errors.Is(err, mine) {
		t.Errorf("a cancelled call: %v", err)
	}
	if n := c.Pending(); n != 0 {
		t.Errorf("%d calls wait", n)
	}
	close(release)
	var got string
	if err := c.Call(t.Context(), "fast", nil, &got); err != nil || got != "fast" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestTheEndOfAConnection ends calls, requests and notifications, with the reason.
func TestTheEndOfAConnection(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	hang := handle(func(_ context.Context, r *jsonrpc.Request) {
		r.Go(func(ctx context.Context) (any, error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	s, c := connected(t, hang, nil, jsonrpc.Options{})
	over := make(chan error)
	go func() { over <- c.Call(t.Context(), "hang", nil, nil) }()
	<-begun
	_ = s.Close()
	if err := <-over; !errors.Is(err, jsonrpc.ErrEnded) || !errors.Is(err, io.EOF) {
		t.Errorf("the call: %v", err)
	}
	if err := s.Wait(); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the server: %v", err)
	}
	<-c.Done()
	if err := c.Notify(t.Context(), "x", nil); !errors.Is(err, jsonrpc.ErrEnded) {
		t.Errorf("a late notification: %v", err)
	}
	if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, jsonrpc.ErrEnded) || c.Pending() != 0 {
		t.Errorf("a late call: %v; %d wait", err, c.Pending())
	}
}

// TestTooManyRequestsAreRefused and later ones are not.
func TestTooManyRequestsAreRefused(t *testing.T) {
	t.Parallel()
	release, begun := make(chan struct{}), make(chan struct{})
	hang := handle(func(_ context.Context, r *jsonrpc.Request) {
		r.Go(func(context.Context) (any, error) {
			if r.Method == "hang" {
				begun <- struct{}{}
				<-release
			}
			return nil, nil
		})
	})
	_, c := connected(t, hang, nil, jsonrpc.Options{Requests: 2})
	over := make(chan error)
	for range 2 {
		go func() { over <- c.Call(t.Context(), "hang", nil, nil) }()
		<-begun
	}
	err := c.Call(t.Context(), "x", nil, nil)
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeBusy || !strings.Contains(e.Message, "2 requests") {
		t.Errorf("the third: %v", err)
	}
	close(release)
	for range 2 {
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}

// TestAPeerThatDoesNotRead makes senders wait, then ends the connection.
func TestAPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		c := jsonrpc.New(context.Background(), jsonrpc.NewLines(a, 1<<20), nil, jsonrpc.Options{WriteTime: time.Minute})
		text := strings.Repeat("x", 60<<10)
		sent := 0
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		for ; ; sent++ {
			if err := c.Notify(ctx, "event", text); err != nil {
				break
			}
		}
		cancel()
		if sent > 3 || time.Since(begun) != 30*time.Second || c.Err() != nil {
			t.Errorf("%d sent in %v, %v", sent, time.Since(begun), c.Err())
		}
		if err := c.Call(context.Background(), "x", text, nil); !errors.Is(err, jsonrpc.ErrSlow) || time.Since(begun) != time.Minute {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if err := c.Wait(); !errors.Is(err, jsonrpc.ErrSlow) {
			t.Error(err)
		}
	})
}

// TestTheContextEndsTheConnection with its cause.
func TestTheContextEndsTheConnection(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer b.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	c := jsonrpc.New(ctx, jsonrpc.NewLines(a, 1<<20), nil, jsonrpc.Options{})
	mine := errors.New("mine")
	cancel(mine)
	if err := c.Wait(); !errors.Is(err, mine) {
		t.Error(err)
	}
}

// TestWhatIsNoRequest is answered as JSON-RPC says. What is not JSON ends the connection.
func TestWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	c := jsonrpc.New(t.Context(), jsonrpc.NewLines(a, 1000), handle(echo), jsonrpc.Options{})
	lines := jsonrpc.NewLines(b, 1<<20)
	for _, tt := range [][2]string{
		{`[{"jsonrpc":"2.0","id":1,"method":"echo"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported; send one message at a time"}}`},
		{`{"jsonrpc":"2.0","id":"a","method":"echo","params":{"x": 1}}`, `{"jsonrpc":"2.0","id":"a","result":{"x":1}}`},
		{`{"jsonrpc":"2.0","id":{},"method":"echo"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id of a request is a number or a text"}}`},
		{`7`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this is no message of JSON-RPC 2.0: json: cannot unmarshal number into Go value of type jsonrpc.message"}}`},
		{`{"jsonrpc":"2.0","method":"echo"}` + "\n" + `{"id":null,"method":"echo"}` + "\n" + `{"id":99,"result":1}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"echo","params":[]}`, `{"jsonrpc":"2.0","id":3,"result":[]}`},
		{`{"oh`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is not JSON: unexpected end of JSON input"}}`},
	} {
		if err := lines.Write([]byte(tt[0])); err != nil {
			t.Fatal(err)
		}
		got, err := lines.Read()
		if diff := cmp.Diff(tt[1], string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", tt[0], err, diff)
		}
	}
	if err := c.Wait(); !errors.Is(err, jsonrpc.ErrGarbage) {
		t.Errorf("the connection ended: %v", err)
	}
}

// TestAMessageThatIsTooLarge ends the connection of who reads it; who would send it is told.
func TestAMessageThatIsTooLarge(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	c := jsonrpc.New(t.Context(), jsonrpc.NewLines(a, 1000), handle(echo), jsonrpc.Options{MaxWrite: 500})
	if err := c.Call(t.Context(), "x", strings.Repeat("x", 500), nil); !errors.Is(err, jsonrpc.ErrTooLarge) || c.Pending() != 0 {
		t.Errorf("a large call: %v", err)
	}
	lines := jsonrpc.NewLines(b, 1<<20)
	for _, n := range []int{600, 2000} {
		raw := []byte(`{"id":1,"method":"echo","params":"` + strings.Repeat("x", n) + `"}`)
		go b.Write(append(raw, '\n'))
		if got, err := lines.Read(); err != nil || !bytes.Contains(got, []byte("too large")) {
			t.Errorf("%d: %s, %v", n, got, err)
		}
	}
	if err := c.Wait(); !errors.Is(err, jsonrpc.ErrTooLarge) {
		t.Errorf("the connection ended: %v", err)
	}
}

// TestAPanicInOrderEndsNothing: also what Handle itself does is guarded.
func TestAPanicInOrderEndsNothing(t *testing.T) {
	t.Parallel()
	_, c := connected(t, handle(func(ctx context.Context, r *jsonrpc.Request) {
		if r.Method == "panic" {
			panic("oh")
		}
		_ = r.Reply("fine", nil)
	}), nil, jsonrpc.Options{})
	_ = c.Notify(t.Context(), "panic", nil)
	if err := c.Call(t.Context(), "panic", nil, nil); err == nil {
		t.Error("no error")
	}
	var got string
	if err := c.Call(t.Context(), "x", nil, &got); err != nil || got != "fine" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestStraysAreBounded: a peer that sends what reaches no one is ended, if it sends much of it in a second.
func TestStraysAreBounded(t *testing.T) {
	t.Parallel()
	for name, stray := range map[string]string{"responses": `{"id":"x","result":1}`, "invalid": `{"id":[],"method":"x"}`, "batches": `[{}]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, b := net.Pipe()
				c := jsonrpc.New(t.Context(), jsonrpc.NewLines(a, 1<<20), nil, jsonrpc.Options{Strays: 3})
				go func() { _, _ = io.Copy(io.Discard, b) }() // ends with the connection
				send := func(n int) { _, _ = b.Write([]byte(strings.Repeat(stray+"\n", n))); synctest.Wait() }
				send(3)
				time.Sleep(time.Second)
				if send(3); c.Err() != nil {
					t.Error("ended within the limit:", c.Err())
				}
				send(1)
				_ = b.Close()
				if err := c.Wait(); !errors.Is(err, jsonrpc.ErrFlood) {
					t.Error("over the limit:", err)
				}
			})
		})
	}
}
