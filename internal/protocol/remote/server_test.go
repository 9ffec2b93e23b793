package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
	"hermes/internal/protocol/remote"
)

// counting is a client that counts its calls and does nothing.
type counting struct{ calls atomic.Int64 }

func (c *counting) Sessions(context.Context, protocol.Filter) ([]protocol.SessionInfo, error) {
	c.calls.Add(1)
	return nil, nil
}

func (c *counting) Open(context.Context, hermes.From, hermes.RunSpec) (protocol.SessionInfo, error) {
	c.calls.Add(1)
	return protocol.SessionInfo{}, nil
}

func (c *counting) Attach(ctx context.Context, _ string, _ hermes.From, _ protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	c.calls.Add(1)
	events := make(chan protocol.Envelope)
	context.AfterFunc(ctx, func() { close(events) })
	return protocol.Snapshot{}, events, nil
}

func (c *counting) Do(context.Context, string, hermes.From, hermes.Op) error {
	c.calls.Add(1)
	panic("a request that panics")
}

func (c *counting) History(context.Context, string, hermes.Range) ([]hermes.Message, error) {
	c.calls.Add(1)
	return nil, nil
}

func (c *counting) Command(context.Context, string, hermes.From, string) error {
	c.calls.Add(1)
	return nil
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"version":1,"key":"key","name":"t","platform":"cli"}}`

// raw is a client that writes lines by hand.
type raw struct {
	t     *testing.T
	conn  net.Conn
	lines *jsonrpc.Lines
	over  chan error
}

func mustRaw(t *testing.T, lent protocol.Client) *raw {
	t.Helper()
	a, b := net.Pipe()
	r := &raw{t, b, jsonrpc.NewLines(b, 1<<20), make(chan error, 1)}
	go func() {
		r.over <- remote.Serve(context.Background(), remote.NewStream(a), remote.Server{Client: lent, Admit: admit, Name: "test"})
	}()
	return r
}

// ask writes a message and returns the next one of the server.
func (r *raw) ask(message string) string {
	r.t.Helper()
	if err := r.lines.Write([]byte(message)); err != nil {
		r.t.Fatal(err)
	}
	got, err := r.lines.Read()
	if err != nil {
		r.t.Fatal(err)
	}
	return string(got)
}

// TestAServerDoesNothingForStrangers: before a right initialize, no request reaches the client.
func TestAServerDoesNothingForStrangers(t *testing.T) {
	t.Parallel()
	lent := &counting{}
	r := mustRaw(t, lent)
	for _, method := range []string{"sessions", "open", "attach", "detach", "do", "history", "command", "nothing"} {
		if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}`); !strings.Contains(got, "send initialize first") {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"version":1,"key":"wrong"}}`); !strings.Contains(got, `"class":"key"`) {
		t.Error(got)
	}
	if err := <-r.over; !errors.Is(err, remote.ErrKey) || lent.calls.Load() != 0 {
		t.Errorf("served: %v, %d calls", err, lent.calls.Load())
	}
	for params, want := range map[string]string{
		`{"version":2,"key":"key","more":1}`:      `"class":"version"`,
		`{"version":1,"key":"key","more":1}`:      "more: there is no such field",
		`{"version":1,"key":"x","key":"key"}`:     "twice",
		`{"version":1,"Key":"key"}`:               "it is written key",
		`{"version":1,"key":"` + long(70) + `"}`:  "too large",
		`{"version":"1","key":"key","name":null}`: "version: ",
	} {
		r := mustRaw(t, lent)
		if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + params + `}`); !strings.Contains(got, want) {
			t.Errorf("%.60s: %s", params, got)
		}
		if err := <-r.over; err == nil {
			t.Errorf("%.60s: the connection ended well", params)
		}
	}
}

// long is a text of so many kilobytes.
func long(kb int) string { return strings.Repeat("x", kb<<10) }

// TestAServerRefusesWhatItDoesNotUnderstand, and goes on.
func TestAServerRefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	r := mustRaw(t, &counting{})
	if got := r.ask(hello); !strings.Contains(got, `"result":{"version":1,"server":"test","from":{"client":"connection `) {
		t.Fatal(got)
	}
	for _, tt := range [][2]string{
		{`"initialize","params":{"version":1,"key":"key"}`, "initialized already"},
		{`"sessions","params":{"filters":{}}`, "filters: there is no such field"},
		{`"open","params":{"run":{"origin":{"parent":"x"}}}`, "depth, task and provenance"},
		{`"open","params":{"run":{"origin":{"depth":1}}}`, "depth, task and provenance"},
		{`"open","params":{"run":{"origin":{"task":{"role":"orchestrator"}}}}`, "depth, task and provenance"},
		{`"open","params":{"run":{"origin":{"root":"cli"}}}`, "chat, root, parent"},
		{`"open","params":{"run":{"origin":{"chat":"private"}}}`, "chat, root, parent"},
		{`"do","params":{"session":"s","op":{"type":"say","parts":[],"synthetic":true}}`, "synthetic: there is no such field"},
		{`"do","params":{"session":"s","op":{"type":"erase"}}`, "there is no operation"},
		{`"do","params":{"session":"s"}`, "op: "},
		{`"do","params":{"session":"s","op":{"type":"undo"}}`, "internal error"},
		{`"do","params":{"session":"s","from":{"client":"other"},"op":{"type":"undo"}}`, "from: there is no such field"},
		{`"erase","params":{}`, "there is no method"},
		{`"history","params":[1]`, "must be an object"},
		{`"sessions"`, `"result":{"sessions":[]}`},
		{`"history","params":{"session":"s","range":{"first":3}}`, `"result":{"messages":[]}`},
		{`"command","params":{"session":"s","line":"/x"}`, `"result":{}`},
		{`"detach","params":{"subscription":"s9"}`, `"result":{}`},
	} {
		if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":` + tt[0] + `}`); !strings.Contains(got, tt[1]) {
			t.Errorf("%s: %s", tt[0], got)
		}
	}
	_ = r.conn.Close()
	if err := <-r.over; err != nil {
		t.Error(err)
	}
}

// TestAConnectionHasSoManySubscriptions and no more. They end one by one, or all at once.
func TestAConnectionHasSoManySubscriptions(t *testing.T) {
	t.Parallel()
	r := mustRaw(t, &counting{})
	r.ask(hello)
	for i := 1; ; i++ {
		got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"s"}}`)
		if strings.Contains(got, "error") {
			if i != 129 || !strings.Contains(got, "128 subscriptions") {
				t.Errorf("subscription %d: %s", i, got)
			}
			break
		}
		if !strings.Contains(got, fmt.Sprintf(`"subscription":"s%d"`, i)) {
			t.Fatal(got)
		}
	}
	first := r.ask(`{"jsonrpc":"2.0","id":1,"method":"detach","params":{"subscription":"s7"}}`)
	second, err := r.lines.Read()
	if want := []string{`{"jsonrpc":"2.0","method":"detached","params":{"subscription":"s7"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`}; !cmp.Equal(want, []string{first, string(second)}) {
		t.Errorf("detached: %s, then %s, %v", first, second, err)
	}
	if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"s"}}`); !strings.Contains(got, `"s129"`) {
		t.Errorf("after one was detached: %s", got)
	}
	_ = r.conn.Close()
	if err := <-r.over; err != nil {
		t.Error(err)
	}
}

// TestASilentPeerIsSentAway.
func TestASilentPeerIsSentAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		r := mustRaw(t, &counting{})
		if err := <-r.over; err == nil || time.Since(begun) != 10*time.Second || !strings.Contains(err.Error(), "did not say who it is") {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		r = mustRaw(t, &counting{})
		r.ask(hello)
		time.Sleep(time.Hour) // in a bubble
		if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"sessions"}`); !strings.Contains(got, "result") {
			t.Errorf("after an hour: %s", got)
		}
		_ = r.conn.Close()
		<-r.over
	})
}

// TestALostPeerIsDetachedAtOnce, and Serve waits for that.
func TestALostPeerIsDetachedAtOnce(t *testing.T) {
	t.Parallel()
	w := protocoltest.NewWorld(t)
	info, err := w.Client.Open(t.Context(), hermes.From{}, hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	r := mustRaw(t, w.Client)
	r.ask(hello)
	r.ask(`{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"` + info.ID + `","attends":true}}`)
	frontends := func() int {
		list, err := w.Client.Sessions(t.Context(), protocol.Filter{Live: true})
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return list[0].Running.Frontends
	}
	if n := frontends(); n != 1 {
		t.Errorf("%d are attached", n)
	}
	_ = r.conn.Close()
	if err := <-r.over; err != nil || frontends() != 0 {
		t.Errorf("served: %v; %d are attached", err, frontends())
	}
}

// TestAClientIsToldWhenItsConnectionIsLost, in every method and subscription.
func TestAClientIsToldWhenItsConnectionIsLost(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- remote.Serve(ctx, remote.NewStream(a), remote.Server{Client: &counting{}, Admit: admit})
	}()
	c, err := remote.Dial(t.Context(), remote.NewStream(b), remote.Hello{Key: "key"})
	if err != nil {
		t.Fatal(err)
	}
	_, events, err := c.Attach(t.Context(), "s", hermes.From{}, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-c.Done()
	for range events {
	}
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("served: %v", err)
	}
	_, _, attach := c.Attach(t.Context(), "s", hermes.From{}, protocol.After{})
	_, list := c.Sessions(t.Context(), protocol.Filter{})
	for name, err := range map[string]error{"attach": attach, "sessions": list, "do": c.Do(t.Context(), "s", hermes.From{}, hermes.Undo{})} {
		if !errors.Is(err, protocol.ErrConnection) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := remote.Dial(t.Context(), remote.NewStream(b), remote.Hello{Key: "key"}); !errors.Is(err, protocol.ErrConnection) {
		t.Errorf("dialed: %v", err)
	}
}

// wire is a peer that says something and takes everything.
type wire struct {
	io.Reader
	got bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) { return w.got.Write(p) }
func (*wire) Close() error                  { return nil }

// FuzzServe serves a peer that says anything: it ends without a panic, every answer is a
// message, and nothing reaches the client before a right initialize.
func FuzzServe(f *testing.F) {
	attach := `{"jsonrpc":"2.0","id":2,"method":"attach","params":{"session":"s","after":{"epoch":1,"seq":2}}}`
	for _, s := range []string{
		"", "\n\n", hello, hello + "\n" + attach + "\n", attach + "\n" + hello + "\n", "{}\n[]\n7\n", hello[:60], strings.Replace(hello, "key", "Key", 1) + "\n" + attach,
		hello + "\n" + `{"id":3,"method":"do","params":{"session":"s","op":{"type":"say","parts":[{"text":"hi"}]}}}` + "\n",
		hello + "\n" + `{"id":3,"method":"open","params":{"run":{"origin":{"parent":"x"}}}}` + "\n" + `{"method":"detach","params":{"subscription":"s1"}}` + "\n",
		strings.Replace(hello, `"key":"key"`, `"key":"no"`, 1) + "\n" + attach, hello + "\n" + `{"id":"\ud800","method":"history","params":{"session":"\u0000"}}` + "\n\xff\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		lent, peer := &counting{}, &wire{Reader: bytes.NewReader(in)}
		admitted := false
		_ = remote.Serve(t.Context(), remote.NewStream(peer), remote.Server{Client: lent, Admit: func(ctx context.Context, h remote.Hello) (hermes.From, error) {
			if n := lent.calls.Load(); n != 0 {
				t.Errorf("%d calls came first", n)
			}
			from, err := admit(ctx, h)
			admitted = err == nil
			return from, err
		}})
		if n := lent.calls.Load(); n > 0 && !admitted {
			t.Errorf("a stranger made %d calls", n)
		}
		for line := range bytes.Lines(peer.got.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("the server wrote %q", line)
			}
		}
	})
}

// TestAPeerThatDoesNotRead is told what it missed when it reads again. Neither the session nor
// its other frontends wait for it, and what is kept for it is bounded by the session's ring.
func TestAPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	const turns = 60
	big := long(64)
	w := protocoltest.NewWorldOf(t, hermestest.NewScript(hermestest.Say(big)).Forever())
	f := protocoltest.Open(t, w.Client, hermes.From{Client: "f", Attends: true})
	r := mustRaw(t, w.Client)
	r.ask(hello)
	r.ask(`{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"` + f.ID + `"}}`)
	for range turns {
		f.Say("hello")
		protocoltest.Next[hermes.TurnDone](f)
	}
	size, last, before := 0, "", ""
	for !strings.Contains(last, `"method":"detached"`) {
		line, err := r.lines.Read()
		if err != nil {
			t.Fatal(err)
		}
		size, before, last = size+len(line), last, string(line)
	}
	if !strings.Contains(before, `"type":"lagged"`) || size > 4<<20 {
		t.Errorf("after %d bytes: %s", size, before)
	}
	if got := r.ask(`{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"` + f.ID + `"}}`); !strings.Contains(got, fmt.Sprintf(`"turns":%d`, turns)) {
		t.Errorf("attached again: %.300s", got)
	}
	_ = r.conn.Close()
	<-r.over
}

// TestAMessageThatIsTooLargeIsNotSent: the connection goes on.
func TestAMessageThatIsTooLargeIsNotSent(t *testing.T) {
	t.Parallel()
	c := mustServe(t, &counting{})
	err := c.Command(t.Context(), "s", hermes.From{}, long(32<<10))
	if !errors.Is(err, jsonrpc.ErrTooLarge) || errors.Is(err, protocol.ErrConnection) {
		t.Errorf("a large command: %v", err)
	}
	if err := c.Command(t.Context(), "s", hermes.From{}, long(1<<10)); err != nil {
		t.Errorf("a smaller one: %v", err)
	}
}
