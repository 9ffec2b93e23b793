package rented_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/rented"
)

// runs reports whether a request begins a command.
func runs(i int, r *http.Request) bool {
	return r.Method == "POST" && strings.HasSuffix(r.URL.Path, services[i].run)
}

// refuseOnce answers the first request that fits, and none after it.
func refuseOnce(s server, fits func(*http.Request) bool, status int, header ...string) *atomic.Int32 {
	var n atomic.Int32
	s.instead(func(w http.ResponseWriter, r *http.Request) bool {
		if !fits(r) || n.Add(1) > 1 {
			return false
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		refuse(w, status, "not now")
		return true
	})
	return &n
}

func try(t *testing.T, r *rented.Runner, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	_, err := r.Exec(t.Context(), remote.Script{Text: text, Stdout: &out})
	return out.String(), err
}

func TestAWrongKeyIsNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		s.instead(func(w http.ResponseWriter, r *http.Request) bool {
			refuse(w, 401, "Unauthorized")
			return true
		})
		r := mustOpen(t, s, config(t))
		for name, err := range map[string]error{"check": r.Check(t.Context()), "exec": second(try(t, r, "true"))} {
			if err == nil || !strings.Contains(err.Error(), services[i].key) {
				t.Errorf("%s: error %v does not name %s", name, err, services[i].key)
			}
			if name == "exec" && !errors.Is(err, remote.ErrNotRun) {
				t.Errorf("error %v, want ErrNotRun", err)
			}
		}
		if n := s.count("POST", ""); n > 2 {
			t.Errorf("%d requests were sent again after the key was refused", n)
		}
	})
}

func second[A, B any](_ A, b B) B { return b }

func TestCheckNeedsNoSandbox(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		r := mustOpen(t, s, config(t))
		if err := r.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n := s.count("POST", "") + s.count("DELETE", "") - s.count("POST", "/ClientHello"); n != 0 {
			t.Errorf("%d requests change something", n)
		}
	})
}

func TestASandboxIsFoundAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		c := config(t)
		c.Persistent = true
		first := mustOpen(t, s, c)
		output(t, first, "echo kept >~/file", "")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		method, path, _ := strings.Cut(services[i].stop, " ")
		if s.count(method, path) != 1 {
			t.Error("the sandbox was not stopped")
		}
		again := mustOpen(t, s, c)
		if got := output(t, again, "cat ~/file", ""); got != "kept\n" {
			t.Errorf("read %q", got)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		other := c
		other.Session = "another"
		r := mustOpen(t, s, other)
		defer r.Close()
		if got := output(t, r, "cat ~/file 2>/dev/null || echo none", ""); got != "none\n" {
			t.Errorf("another session read %q", got)
		}
	})
}

func TestASandboxIsDeletedAtTheEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		r := mustOpen(t, s, config(t))
		output(t, r, "echo x >~/file", "")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		method, path, _ := strings.Cut(services[i].end, " ")
		if s.count(method, path) != 1 {
			t.Error("the sandbox was not deleted")
		}
		if err := r.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
		if _, err := try(t, r, "true"); !errors.Is(err, remote.ErrNotRun) {
			t.Errorf("after Close: error %v", err)
		}
		next := mustOpen(t, s, config(t))
		defer next.Close()
		if got := output(t, next, "cat ~/file 2>/dev/null || echo none", ""); got != "none\n" {
			t.Errorf("the next one read %q", got)
		}
	})
}

// TestAStoppedSandboxIsWoken has the service stop it between two commands, as after a time
// without use.
func TestAStoppedSandboxIsWoken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		if services[i].name == "modal" {
			t.Skip("it cannot start a sandbox that was stopped")
		}
		c := config(t)
		c.Persistent = true
		r := mustOpen(t, s, c)
		defer r.Close()
		output(t, r, "echo kept >~/file", "")
		stop := mustOpen(t, s, c) // another one with the same labels
		output(t, stop, "true", "")
		if err := stop.Close(); err != nil {
			t.Fatal(err)
		}
		if got := output(t, r, "cat ~/file", ""); got != "kept\n" {
			t.Errorf("read %q", got)
		}
		if got := output(t, r, "cat", strings.Repeat("x", 200_000)); len(got) != 200_000 {
			t.Errorf("read %d bytes", len(got))
		}
	})
}

// TestALostSandboxIsSaidOnce has the service delete it between two commands.
func TestALostSandboxIsSaidOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, _ int) {
		c := config(t)
		r := mustOpen(t, s, c)
		defer r.Close()
		output(t, r, "echo lost >~/file", "")
		other := mustOpen(t, s, c)
		output(t, other, "true", "")
		if err := other.Close(); err != nil { // deletes it
			t.Fatal(err)
		}
		_, err := try(t, r, "cat ~/file")
		if !errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "has ended, with its files") {
			t.Errorf("error %v does not say what was lost", err)
		}
		if got := output(t, r, "cat ~/file 2>/dev/null || echo new", ""); got != "new\n" {
			t.Errorf("afterwards: %q", got)
		}
	})
}

// stillborn is a service whose sandboxes end as soon as they are made.
type stillborn struct {
	rented.Service
	made  int
	found []string // what Find returns, one after the other
	most  func()   // called when many were made
}

func (s *stillborn) Find(context.Context) (string, error) {
	if len(s.found) == 0 {
		return "", nil
	}
	id := s.found[0]
	s.found = s.found[1:]
	return id, nil
}

func (s *stillborn) Create(context.Context) (string, error) {
	if s.made++; s.made == 5 {
		s.most()
	}
	return "new", nil
}

func (s *stillborn) Wake(context.Context, string) (rented.Sandbox, bool, error) {
	return rented.Sandbox{}, false, rented.NewFailure(http.StatusGone, "it was shut down")
}

// TestOneCommandMakesOneSandbox although those that are found or made end at once.
func TestOneCommandMakesOneSandbox(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &stillborn{found: []string{"old"}, most: cancel}
	r := rented.New(s, rented.About{Name: "Example"}, config(t))
	for made := range 2 {
		_, err := r.Exec(ctx, remote.Script{Text: "true"})
		if s.made != made+1 {
			t.Fatalf("%d sandboxes were made, want %d", s.made, made+1)
		}
		if !errors.Is(err, remote.ErrNotRun) {
			t.Errorf("error %v, want ErrNotRun", err)
		}
		for _, want := range []string{"a new sandbox of Example ended before it could be used", "it was shut down"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v does not say %q", err, want)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestARequestIsSentAgainWhenTheLimitIsReached(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		c := config(t)
		var waits []time.Duration
		c.Sleep = func(ctx context.Context, d time.Duration) error {
			waits = append(waits, d)
			return ctx.Err()
		}
		r := mustOpen(t, s, c)
		defer r.Close()
		output(t, r, "true", "")
		waits = nil
		n := refuseOnce(s, func(r *http.Request) bool { return runs(i, r) }, 429, "Retry-After", "7")
		if got := output(t, r, "echo ran", ""); got != "ran\n" {
			t.Errorf("got %q", got)
		}
		if n.Load() != 2 || len(waits) == 0 || waits[0] != 7*time.Second {
			t.Errorf("%d requests, waits %v, want one more after 7s", n.Load(), waits)
		}
		refuseOnce(s, func(r *http.Request) bool { return runs(i, r) }, 429, "Retry-After", "3600")
		if _, err := try(t, r, "true"); !errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "limit") {
			t.Errorf("error %v, want ErrNotRun and the limit", err)
		}
	})
}

// TestACommandIsNotRunTwice fails the request that begins a command: the service may have
// begun it. Where the request names the command, it is sent again.
func TestACommandIsNotRunTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		r := mustOpen(t, s, config(t))
		defer r.Close()
		output(t, r, "true", "")
		for _, status := range []int{500, 503} {
			n := refuseOnce(s, func(r *http.Request) bool { return runs(i, r) }, status)
			_, err := try(t, r, "true")
			if services[i].name == "modal" {
				if n.Load() != 2 || err != nil {
					t.Errorf("%d: %d requests, error %v, want two and none", status, n.Load(), err)
				}
				continue
			}
			if n.Load() != 1 || !errors.Is(err, rented.ErrCut) || errors.Is(err, remote.ErrNotRun) {
				t.Errorf("%d: %d requests, error %v, want one and ErrCut", status, n.Load(), err)
			}
		}
		n := refuseOnce(s, func(r *http.Request) bool { return !runs(i, r) }, 503)
		next := mustOpen(t, s, config(t))
		if got := output(t, next, "echo ran", ""); got != "ran\n" || n.Load() < 2 {
			t.Errorf("a request that changes nothing is not sent again: %q", got)
		}
	})
}

// TestACutConnectionIsUnknown cuts every connection in the middle of a command, and lets
// none be made again.
func TestACutConnectionIsUnknown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		relay := newRelay()
		c := config(t)
		c.HTTP = relay.client()
		r := mustOpen(t, s, c)
		output(t, r, "true", "")
		out := &firstWrite{then: relay.cut}
		_, err := r.Exec(t.Context(), remote.Script{Text: "echo begun; exec sleep 300", Stdout: out})
		if !errors.Is(err, rented.ErrCut) || errors.Is(err, remote.ErrNotRun) || out.String() != "begun\n" {
			t.Errorf("error %v after %q, want ErrCut", err, out.String())
		}
		if _, err := try(t, r, "true"); !errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), "could not be reached") {
			t.Errorf("without a connection: error %v, want ErrNotRun", err)
		}
		relay.restore()
		if got := output(t, r, "echo back", ""); got != "back\n" {
			t.Errorf("after the connection is back: %q", got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestACutLogIsReadOn cuts every connection in the middle of a command, and lets new ones be
// made. Where the service can be asked again, the rest of the output arrives, and once.
func TestACutLogIsReadOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		relay := newRelay()
		c := config(t)
		c.HTTP = relay.client()
		r := mustOpen(t, s, c)
		defer r.Close()
		output(t, r, "true", "")
		out := &firstWrite{then: func() {
			relay.cut()
			relay.restore()
		}}
		var errs bytes.Buffer
		code, err := r.Exec(t.Context(), remote.Script{Text: "echo begun; echo err >&2; sleep 0.3; echo ended; exit 3", Stdout: out, Stderr: &errs})
		if name := services[i].name; name == "vercel" || name == "e2b" {
			if !errors.Is(err, rented.ErrCut) {
				t.Errorf("error %v, want ErrCut", err)
			}
			return
		}
		if err != nil || code != 3 || out.String() != "begun\nended\n" || errs.String() != "err\n" {
			t.Errorf("exit code %d, error %v, got %q and %q", code, err, out.String(), errs.String())
		}
	})
}

// TestDaytonaReadsOnAsLongAsOutputComes cuts every connection after each of many lines.
func TestDaytonaReadsOnAsLongAsOutputComes(t *testing.T) {
	t.Parallel()
	relay := newRelay()
	c := config(t)
	c.HTTP = relay.client()
	r := mustOpen(t, newDaytona(t), c)
	defer r.Close()
	output(t, r, "true", "")
	dir := t.TempDir()
	out := &eachWrite{then: func(line string) {
		relay.cut()
		relay.restore()
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSpace(line)), nil, 0o600); err != nil {
			t.Error(err)
		}
	}}
	script := "cd " + rented.Quote(dir) + "; for i in 1 2 3 4 5 6 7 8 9; do echo $i; until [ -e $i ]; do sleep 0.01; done; done; exit 3"
	code, err := r.Exec(t.Context(), remote.Script{Text: script, Stdout: out})
	if want := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"; err != nil || code != 3 || out.String() != want {
		t.Errorf("exit code %d, error %v, got %q, want %q", code, err, out.String(), want)
	}
}

// eachWrite calls a func after each write.
type eachWrite struct {
	bytes.Buffer
	then func(line string)
}

func (w *eachWrite) Write(p []byte) (int, error) {
	defer w.then(string(p))
	return w.Buffer.Write(p)
}

// TestASandboxWhoseAnswerWasLostIsUsed loses the answer to the request that makes it: there
// must be no second one, and none may be left.
func TestASandboxWhoseAnswerWasLostIsUsed(t *testing.T) {
	t.Parallel()
	makes := func(r *http.Request) bool {
		return r.Method == "POST" && slices.ContainsFunc([]string{"/sandbox", "/sandboxes", "/devboxes", "/SandboxCreateV2"}, func(end string) bool {
			return strings.HasSuffix(r.URL.Path, end)
		})
	}
	each(t, func(t *testing.T, s server, i int) {
		method, path, _ := strings.Cut(services[i].end, " ")
		for _, again := range []bool{true, false} {
			made := 0
			c := config(t)
			transport := &http.Transport{}
			t.Cleanup(transport.CloseIdleConnections)
			c.HTTP = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
				resp, err := transport.RoundTrip(r)
				if err == nil && makes(r) {
					made++
					resp.Body.Close()
					return nil, io.ErrUnexpectedEOF
				}
				return resp, err
			})}
			r := mustOpen(t, s, c)
			if _, err := try(t, r, "true"); !errors.Is(err, remote.ErrNotRun) {
				t.Errorf("error %v, want ErrNotRun", err)
			}
			if again {
				output(t, r, "true", "")
			}
			before := s.count(method, path)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if made != 1 || s.count(method, path) != before+1 {
				t.Errorf("used again %v: %d sandboxes were made, %d deleted", again, made, s.count(method, path)-before)
			}
		}
	})
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// relay is the way to a server, which can be cut.
type relay struct {
	dialer net.Dialer
	state  chan relayState // holds one value
}

type relayState struct {
	down  bool
	conns []net.Conn
}

func newRelay() *relay {
	r := &relay{state: make(chan relayState, 1)}
	r.state <- relayState{}
	return r
}

func (r *relay) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		state := <-r.state
		defer func() { r.state <- state }()
		if state.down {
			return nil, &net.OpError{Op: "dial", Net: network, Err: io.ErrUnexpectedEOF}
		}
		conn, err := r.dialer.DialContext(ctx, network, addr)
		if err == nil {
			state.conns = append(state.conns, conn)
		}
		return conn, err
	}}}
}

func (r *relay) cut() {
	state := <-r.state
	for _, conn := range state.conns {
		_ = conn.Close()
	}
	r.state <- relayState{down: true}
}

func (r *relay) restore() {
	<-r.state
	r.state <- relayState{}
}

// TestModalGetsANewToken has the token for the worker end between two commands.
func TestModalGetsANewToken(t *testing.T) {
	t.Parallel()
	s := newModal(t)
	r := mustOpen(t, s, config(t))
	defer r.Close()
	output(t, r, "true", "")
	s.mu.Lock()
	s.expire = true
	s.mu.Unlock()
	if got := output(t, r, "echo ran", ""); got != "ran\n" {
		t.Errorf("got %q", got)
	}
}

// TestModalBeginsAgainWithoutItsStoredImage has Modal delete the image of a sandbox.
func TestModalBeginsAgainWithoutItsStoredImage(t *testing.T) {
	t.Parallel()
	s := newModal(t)
	c := config(t)
	c.Persistent = true
	first := mustOpen(t, s, c)
	output(t, first, "echo kept >~/file", "")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	clear(s.images)
	s.mu.Unlock()
	again := mustOpen(t, s, c)
	if got := output(t, again, "cat ~/file 2>/dev/null || echo new", ""); got != "new\n" {
		t.Errorf("read %q", got)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	third := mustOpen(t, s, c)
	defer third.Close()
	output(t, third, "true", "")
}

// TestAStoppedSandboxOfVercelThatCannotBeResumed is replaced if nothing has run in it.
func TestAStoppedSandboxOfVercelThatCannotBeResumed(t *testing.T) {
	t.Parallel()
	s := newVercel(t)
	first := mustOpen(t, s, config(t))
	output(t, first, "true", "")
	s.mu.Lock()
	for _, session := range s.sessions {
		session.status = "stopped"
	}
	s.mu.Unlock()
	next := mustOpen(t, s, config(t))
	defer next.Close()
	if got := output(t, next, "echo new", ""); got != "new\n" {
		t.Errorf("got %q", got)
	}
}
