package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
	"hermes/internal/protocol/remote"
)

// cutConn is a connection that is cut after so many bytes that were read or written; less
// than 0 is never.
type cutConn struct {
	net.Conn
	mu          sync.Mutex
	read, write int
	cut         bool
}

var errCut = errors.New("the cable is cut")

func (c *cutConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	left := c.read
	c.mu.Unlock()
	if left == 0 {
		return 0, c.end()
	}
	if left > 0 {
		p = p[:min(len(p), left)]
	}
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read > 0 {
		c.read -= n
	}
	return n, err
}

func (c *cutConn) Write(p []byte) (int, error) {
	if c.write < 0 {
		return c.Conn.Write(p)
	}
	n, err := c.Conn.Write(p[:min(len(p), c.write)])
	if c.write -= n; err == nil && n < len(p) {
		err = c.end()
	}
	return n, err
}

func (c *cutConn) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	_ = c.Conn.Close()
	return errCut
}

// redialing is a client that dials again when its connection is lost. Only the first
// connection is cut.
type redialing struct {
	protocol.Client // unused
	lent            protocol.Client
	work            sync.WaitGroup // of the servers

	mu    sync.Mutex
	first *cutConn
	read  int
	write int
	now   *remote.Client
}

// client returns one with a connection.
func (r *redialing) client(ctx context.Context) (*remote.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		select {
		case <-r.now.Done():
			_ = r.now.Close()
			r.now = nil
		default:
			return r.now, nil
		}
	}
	a, b := net.Pipe()
	var end net.Conn = b
	if r.first == nil {
		r.first = &cutConn{Conn: b, read: r.read, write: r.write}
		end = r.first
	}
	r.work.Go(func() {
		_ = remote.Serve(context.Background(), remote.NewStream(a), remote.Server{Client: r.lent, Admit: admit}) // why it ended is all that tests cut
	})
	c, err := remote.Dial(ctx, remote.NewStream(end), remote.Hello{Key: "key", Name: "t", Platform: "cli"})
	r.now = c
	if c == nil {
		r.now = nil
	}
	return c, err
}

func (r *redialing) Attach(ctx context.Context, id string, from hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	c, err := r.client(ctx)
	if err != nil {
		return protocol.Snapshot{}, nil, err
	}
	return c.Attach(ctx, id, from, after)
}

func (r *redialing) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	c, err := r.client(ctx)
	if err != nil {
		return err
	}
	return c.Do(ctx, id, from, op)
}

func (r *redialing) History(ctx context.Context, id string, part hermes.Range) ([]hermes.Message, error) {
	c, err := r.client(ctx)
	if err != nil {
		return nil, err
	}
	return c.History(ctx, id, part)
}

// insist sends an operation until it is known to have arrived. A message has a key, and an
// answer that arrived is one that was answered.
func insist(t *testing.T, ctx context.Context, r *redialing, id string, op hermes.Op) {
	for {
		err := r.Do(ctx, id, hermes.From{}, op)
		if _, answered := errors.AsType[hermes.ErrAnswered](err); err == nil || answered {
			return
		}
		if !errors.Is(err, protocol.ErrConnection) {
			t.Errorf("%T: %v", op, err)
			return
		}
		time.Sleep(time.Millisecond) // in a bubble
	}
}

// screen is what a frontend shows.
type screen struct {
	stored []hermes.Message
	text   string
	done   bool
}

// show shows an update. It returns the question to answer, if there is a new one.
func (s *screen) show(u protocol.Update) (question string, err error) {
	store := func(m hermes.Message) error {
		if n := len(s.stored); n > 0 && s.stored[n-1].ID >= m.ID {
			return fmt.Errorf("message %d came after %d", m.ID, s.stored[n-1].ID)
		}
		s.stored = append(s.stored, m)
		return nil
	}
	if snapshot := u.Snapshot; snapshot != nil {
		for _, m := range u.Missed {
			if err := store(m); err != nil {
				return "", err
			}
		}
		if snapshot.Continued {
			return "", nil
		}
		s.text, s.done = "", snapshot.Done != nil && snapshot.Turn == nil
		if snapshot.Turn != nil {
			s.text = snapshot.Turn.Text
		}
		for _, q := range snapshot.Questions {
			question = q.Asked.ID
		}
		return question, nil
	}
	switch d := u.Envelope.Event.(type) {
	case hermes.TurnStarted:
		return "", store(d.Message)
	case hermes.TextDelta:
		s.text += d.Text
	case hermes.Appended:
		if d.Message.Role == hermes.RoleAssistant {
			if s.text != d.Message.Text() {
				return "", fmt.Errorf("the text %q was shown as %q", d.Message.Text(), s.text)
			}
			s.text = ""
		}
		return "", store(d.Message)
	case hermes.Asked:
		return d.ID, nil
	case hermes.TurnDone:
		s.done = true
	}
	return "", nil
}

// chat goes through a whole conversation over a connection that is cut, and reports whether it
// was. Afterwards nothing of it may run.
func chat(t *testing.T, read, write int) (cut bool) {
	w := protocoltest.NewWorld(t, hermestest.Step{Text: "I ask. ", Calls: []hermes.ToolCall{{Name: "approve", Arguments: "{}"}}}, hermestest.Say("It is done."))
	info, err := w.Client.Open(t.Context(), hermes.From{Attends: true}, hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	r := &redialing{lent: w.Client, read: read, write: write}
	ctx, cancel := context.WithCancel(t.Context())
	var sent sync.WaitGroup
	var s screen
	answered := map[string]bool{}
	for begun := false; !s.done; { // a watch that never began gives up
		for u := range (protocol.Watched{Client: r, From: hermes.From{Attends: true}, Run: hermes.RunSpec{Session: info.ID}}).Watch(ctx) {
			if u.Lost != nil || u.Failed != nil {
				if err := errors.Join(u.Lost, u.Failed); !errors.Is(err, protocol.ErrConnection) {
					t.Fatal(err)
				}
				continue
			}
			question, err := s.show(u)
			if err != nil {
				t.Fatal(err)
			}
			if !begun {
				begun = true
				sent.Go(func() {
					insist(t, ctx, r, info.ID, hermes.Say{Parts: []hermes.Part{{Text: "go"}}, Key: "k"})
				})
			}
			if question != "" && !answered[question] {
				answered[question] = true
				sent.Go(func() {
					insist(t, ctx, r, info.ID, hermes.Reply{ID: question, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}})
				})
			}
			if s.done {
				sent.Wait()
				break
			}
		}
	}
	cancel()
	_ = r.now.Close()
	r.work.Wait()
	want, err := w.Store.Messages(t.Context(), info.ID, hermes.Range{})
	if err != nil || len(want) != 4 || want[2].Text() != "once" {
		t.Fatalf("stored %d messages, %v", len(want), err)
	}
	if diff := cmp.Diff(want, s.stored); diff != "" {
		t.Errorf("stored and shown: %s", diff)
	}
	return r.first.cut
}

// TestAConnectionThatIsCutAnywhereLosesNothing cuts the first connection of a conversation
// after each number of bytes, in both directions; with the race detector, after some
// of them.
func TestAConnectionThatIsCutAnywhereLosesNothing(t *testing.T) {
	t.Parallel()
	const workers = 4
	for _, direction := range []string{"read", "write"} {
		for first := range workers { // each cuts at its own numbers
			t.Run(fmt.Sprint(direction, " ", first), func(t *testing.T) {
				t.Parallel()
				cut := true
				n := first * stride
				for ; cut && !t.Failed(); n += workers * stride {
					synctest.Test(t, func(t *testing.T) {
						if direction == "read" {
							cut = chat(t, n, -1)
						} else {
							cut = chat(t, -1, n)
						}
						if t.Failed() {
							t.Errorf("cut after %d bytes", n)
						}
					})
				}
				if n < 300 {
					t.Errorf("it survived a cut after %d bytes: no conversation is that short", n)
				}
			})
		}
	}
}
